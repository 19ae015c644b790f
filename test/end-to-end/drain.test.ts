import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { orderBreak, withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

const PARTITIONS = 4;
const TICKS = 'subscription { tick { key seq } }';

interface Tick {
  readonly key: string;
  readonly seq: number;
}

/** Writes records continuously to all partitions until it is stopped. */
class Flow {
  #isOn = true;
  #next = 0;
  readonly #done: Promise<void>;

  constructor(outside: Outside, topic: string) {
    const run = async () => {
      for (; this.#isOn; this.#next += 10) {
        await outside.sendSequences(topic, PARTITIONS, 10, this.#next);
        await delay(5);
      }
    };
    this.#done = run();
  }

  /** Resolves with the number of records on each partition. Idempotent. */
  async stop(): Promise<number> {
    this.#isOn = false;
    await this.#done;
    return this.#next;
  }
}

function ticksOf({ events }: Watch): Tick[] {
  return events.map(({ tick }) => tick as Tick);
}

/** A client that does not read and never answers a close, so that a drain waits for it. */
async function silentClient(t: TestContext, pod: Pod): Promise<void> {
  const client = await openSocket(t, pod.url);
  await client.init();
  client.pause();
}

describe('SIGTERM', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function settingsFor(t: TestContext, topic: string) {
    const name = randomName('drain');
    return {
      GRAPH: await graphFolder(t, {
        'schema.graphql': `type Tick { key: String! seq: Int! } type Subscription { tick: Tick @kafka(topic: "${topic}") }`,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
  }

  it('while records flow, sets /readyz to 503, closes sockets with 1001, commits offsets and exits with 0; the next pod loses and repeats no record', async (t) => {
    const topic = await outside.createTopic(undefined, PARTITIONS);
    const settings = await settingsFor(t, topic);
    const observer = await startPod(t, { ...settings, ROLE: 'gateway' });
    const observed = watch(t, observer.url, TICKS);
    const pod = await spawnPod(t, settings).started();
    const client = watch(t, pod.url, TICKS);
    await silentClient(t, pod);
    for (const one of [observer, pod]) await one.counts('crier_channels', 1);
    await waitFor('both subscriptions', async () => {
      await outside.send(topic, [{ partition: 0, value: '{"key":"warm-up","seq":0}' }]);
      await delay(100);
      return observed.events.length > 0 && client.events.length > 0;
    });
    const flow = new Flow(outside, topic);
    t.after(() => flow.stop());
    await waitFor('1,000 events', () => observed.events.length > 1000, 30_000);

    pod.process.kill('SIGTERM');
    const { body } = await waitFor('readiness to turn', async () => {
      const readiness = await pod.readiness();
      return readiness.status === 503 ? readiness : undefined;
    });
    assert.equal(body['status'], 'draining');
    assert.equal(await pod.ended, 0);
    assert.equal(await client.closed(), 1001);
    assert.equal(orderBreak(ticksOf(client).filter(({ key }) => key !== 'warm-up')), undefined);
    const seenBefore = await outside.committed(settings.KAFKA_GROUP_ID, topic);
    await waitFor('every committed record', () => observed.events.length >= seenBefore);
    assert.equal(observed.events.length, seenBefore, 'exactly the published records are committed');

    await startPod(t, settings);
    await waitFor('events from the next pod', () => observed.events.length > seenBefore + 1000, 30_000);
    const count = await flow.stop();
    const isComplete = () => {
      const seqs = new Map(ticksOf(observed).map(({ key, seq }) => [key, seq]));
      return ['0', '1', '2', '3'].every((key) => seqs.get(key) === count - 1);
    };
    await waitFor('the last record of each partition', isComplete, 30_000);
    const ticks = ticksOf(observed).filter(({ key }) => key !== 'warm-up');
    assert.equal(orderBreak(ticks, true), undefined);
    const repeated = ticks.length - count * PARTITIONS;
    assert.equal(repeated, 0, `of ${ticks.length}`);
  });

  it('serves for DRAIN_DELAY_MS with /readyz at 503, and a second signal skips delay and spread, and exits with 0', async (t) => {
    const pod = await spawnPod(t, { DRAIN_DELAY_MS: '3600000', DRAIN_SPREAD_MS: '3600000' }).started();
    await silentClient(t, pod);
    const client = await openSocket(t, pod.url);
    pod.process.kill('SIGTERM');
    await waitFor('readiness to turn', async () => (await pod.readiness()).status === 503);
    assert.equal(await pod.metric('crier_draining'), 1);
    const late = await openSocket(t, pod.url);
    await late.init();
    late.subscribe('1', '{ __typename }');
    assert.equal((await late.next()).type, 'next');
    pod.process.kill('SIGTERM');
    assert.equal((await client.expectClose()).code, 1001);
    assert.equal(await pod.ended, 0, pod.log);
    const { sockets, closed, left, terminated } = pod.lines.find(({ msg }) => msg === 'sockets drained')!;
    assert.deepEqual({ sockets, closed, left, terminated }, { sockets: 3, closed: 3, left: 0, terminated: 1 });
  });

  it('a third time ends the pod at once with 1', async (t) => {
    const pod = await spawnPod(t, { DRAIN_DELAY_MS: '3600000' }).started();
    for (let i = 0; i < 2; i++) await silentClient(t, pod);
    pod.process.kill('SIGTERM');
    await pod.until('the first', () => pod.lines.some(({ msg }) => msg === 'closing'));
    pod.process.kill('SIGTERM');
    await pod.until('the second', () => pod.lines.some(({ msg }) => msg === 'closing without delay'));
    pod.process.kill('SIGTERM');
    assert.equal(await pod.ended, 1);
  });

  it('waits neither for the delay nor for the spread after SIGINT, a Ctrl-C', async (t) => {
    const pod = await spawnPod(t, { DRAIN_DELAY_MS: '3600000', DRAIN_SPREAD_MS: '3600000' }).started();
    const clients = [await openSocket(t, pod.url), await openSocket(t, pod.url)];
    pod.process.kill('SIGINT');
    for (const client of clients) assert.equal((await client.expectClose()).code, 1001);
    assert.equal(await pod.ended, 0);
  });

  it('waits neither for the spread nor for clients when there are none', async (t) => {
    const pod = await spawnPod(t, { DRAIN_SPREAD_MS: '3600000' }).started();
    assert.equal(await pod.stop(), 0);
  });

  it('ends a start that waits for a module of the graph', async (t) => {
    const GRAPH = await graphFolder(t, {
      'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
      'resolvers.js': `process.stdout.write('loading'); setInterval(() => undefined, 60_000); await new Promise(() => undefined);`,
    });
    const pod = spawnPod(t, { GRAPH, SHUTDOWN_TIMEOUT_MS: '3600000' });
    await pod.until('the import', () => pod.output === 'loading');
    assert.equal(await pod.stop(), 0, pod.log);
  });

  it('closes a client that never answers within the deadline', async (t) => {
    const pod = await spawnPod(t, { SHUTDOWN_TIMEOUT_MS: '4000' }).started();
    await silentClient(t, pod);
    assert.equal(await pod.stop(), 0, pod.log);
  });
});
