import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { kafkaBrokers, randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';

const README = readFileSync('examples/chat/README.md', 'utf8');
const commands = Array.from(README.matchAll(/^```sh\n(.*?)^```/gms), ([, command]) => command!);
const GRAPH = /^GRAPH=(\S+) npm start$/m.exec(README)![1]!;
const SAID = `${/^```graphql\n(.*?)^```/ms.exec(README)![1]}`;
const LINE = { said: { user: 'Ann', text: 'Hello' } };

/** Runs a command of the README with other addresses. */
function run(word: string, replacements: Readonly<Record<string, string>>): string {
  let command = commands.find((candidate) => candidate.startsWith(word))!;
  for (const [from, to] of Object.entries(replacements)) command = command.replace(from, to);
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' });
}

const say = ({ endpoint }: Pod) => run('curl', { 'http://localhost:4000/graphql': endpoint });

describe('examples/chat', () => {
  it('runs in one process, as its README says', async (t) => {
    const pod = await spawnPod(t, { GRAPH }).started();
    const said = watch(t, pod.url, SAID);
    await waitFor('the message', () => {
      assert.deepEqual(JSON.parse(say(pod)), { data: { say: LINE.said } });
      return said.events.length > 0;
    });
    assert.deepEqual(said.events[0], LINE);
  });

  it('runs in two pods on Kafka and Redis, as the line of `npm run stack` starts them', async (t) => {
    const redis = await redisServer(t);
    const settings = {
      GRAPH,
      REDIS_URL: redis.url,
      KAFKA_BROKERS: await kafkaBrokers(t),
      KAFKA_GROUP_ID: randomName('chat'),
    };
    const [one, other] = await Promise.all([spawnPod(t, settings).started(), spawnPod(t, settings).started()]);
    const watches = [one, other].map(({ url }) => watch(t, url, SAID));
    const typing = watch(t, other.url, 'subscription { typing(room: "lobby") { user } }');
    const admin = new Redis(redis.url);
    t.after(() => admin.disconnect());
    for (const [channel, pods] of [
      ['chat:lobby:said', 2],
      ['chat:lobby:typing', 1],
    ] as const) {
      await waitFor(channel, async () => (await admin.pubsub('NUMSUB', channel))[1] === pods);
    }
    say(one);
    for (const said of watches) assert.deepEqual(await said.event(), LINE);
    run('redis-cli', { 6379: `${redis.port}` });
    assert.deepEqual(await typing.event(), { typing: { user: 'Bob' } });
    assert.equal((await one.readiness()).status, 200);
  });

  it('refuses a room that leads to another channel', async (t) => {
    const pod = await startPod(t, { GRAPH });
    for (const field of ['said(room: "lobby:typing") { user }', 'typing(room: "lobby:x") { user }']) {
      const refused = watch(t, pod.url, `subscription { ${field} }`);
      await waitFor('the refusal', () => refused.failures.length > 0);
      assert.match(refused.failures[0]!, /BAD_USER_INPUT/);
    }
  });
});
