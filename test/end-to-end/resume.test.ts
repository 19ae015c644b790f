import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

/** Long enough for another worker to take a killed one's partitions over. */
const PATIENCE_MS = 60_000;
const COUNTED = 'subscription { counted(key: "0") { seq } }';

interface Result {
  readonly data: { readonly counted: { readonly seq: number } };
  readonly extensions: { readonly cursor: string; readonly resumed?: boolean; readonly gap?: true };
}

describe('a client of a pod that was killed', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function connect(t: TestContext, pod: Pod): Promise<Socket> {
    const socket = await openSocket(t, pod.url, { patienceMs: PATIENCE_MS });
    await socket.init();
    return socket;
  }

  async function take(socket: Socket, count: number): Promise<Result[]> {
    const messages = await socket.take(count);
    for (const { type, payload } of messages) assert.equal(type, 'next', JSON.stringify(payload));
    return messages.map(({ payload }) => payload as Result);
  }

  const numbers = (results: readonly Result[]) => results.map(({ data }) => data.counted.seq);
  const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

  it('resumes at another pod with its cursor, without loss or duplicates', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const name = randomName('resume');
    const settings = {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            counted(key: ID!): Counted @kafka(topic: "${topic}", match: [{ arg: "key", path: "key" }], history: {})
          }
          type Counted { key: ID seq: Int }
        `,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
    const one = await spawnPod(t, settings).started();
    const before = await connect(t, one);
    before.subscribe('1', COUNTED);
    await one.counts('crier_channels', 1);
    await outside.sendSequences(topic, 1, 10);
    const seen = await take(before, 10);
    assert.deepEqual(numbers(seen), range(0, 10));

    const other = await startPod(t, settings);
    one.process.kill('SIGKILL');
    await outside.sendSequences(topic, 1, 20, 10);
    const back = await connect(t, other);
    back.subscribe('1', COUNTED, undefined, { resume: { cursor: seen.at(-1)!.extensions.cursor } });
    const missed = await take(back, 20);
    await outside.sendSequences(topic, 1, 5, 30);
    const live = await take(back, 5);
    assert.deepEqual(numbers([...missed, ...live]), range(10, 25));
    assert.equal(missed[0]!.extensions.resumed, true);
    assert.ok([...missed, ...live].every(({ extensions }) => extensions.gap === undefined));
    assert.deepEqual(await back.roundTrip(), []);
  });
});
