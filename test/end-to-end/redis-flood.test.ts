import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Redis } from 'ioredis';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { spawnPod } from './pod-process.ts';

const MIB = 1024 * 1024;
const GRAPH = {
  'schema.graphql': `
    type Subscription {
      flood: Flood @redis(channel: "flood")
      copied: Flood
    }
    type Flood { text: String }
  `,
  'resolvers.js': `
    export const Subscription = {
      copied: {
        async *subscribe(_, args, { pubsub }) {
          for await (const copied of pubsub.asyncIterableIterator('flood')) yield { copied };
        },
      },
    };
  `,
};

it('keeps the memory of a pod flat while a publisher is far faster than clients, and closes those with 1013', async (t) => {
  const redis = await redisServer(t);
  const pod = await spawnPod(t, {
    ROLE: 'gateway',
    REDIS_URL: redis.url,
    CHANNEL_PREFIX: `${randomName()}:`,
    GRAPH: await graphFolder(t, GRAPH),
  }).started();
  const publisher = new Redis(redis.url);
  t.after(() => publisher.disconnect());
  const sockets = await Promise.all([openSocket(t, pod.url), openSocket(t, pod.url)]);
  for (const socket of sockets) await socket.init();
  sockets[0].subscribe('1', 'subscription { flood { text } }');
  sockets[1].subscribe('1', 'subscription { copied { text } }');
  await waitFor('the channel', async () => (await publisher.pubsub('NUMSUB', 'flood'))[1] === 1);
  for (const socket of sockets) socket.pause();
  let largest = 0;
  const message = JSON.stringify({ text: 'x'.repeat(16 * 1024) });
  for (let sent = 0; sent < 512 * MIB; sent += 256 * message.length) {
    const pipeline = publisher.pipeline();
    for (let i = 0; i < 256; i++) pipeline.publish('flood', message);
    await pipeline.exec();
    if (sent % (8 * 256 * message.length) === 0) {
      largest = Math.max(largest, await pod.metric('process_resident_memory_bytes'));
    }
  }
  assert.ok(largest < 512 * MIB, `${Math.round(largest / MIB)} MiB`);
  assert.equal(await pod.metric('crier_slow_consumers_total'), 1);
  assert.equal(pod.process.exitCode, null);
  t.diagnostic(`at most ${Math.round(largest / MIB)} MiB resident`);
});
