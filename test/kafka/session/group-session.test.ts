import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Consumer, ConsumerRunConfig, EachBatchPayload } from 'kafkajs';
import type { PartitionLease } from '../../../src/bus/publisher.ts';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { FlowWait } from '../../../src/kafka/session/flow-wait.ts';
import { GroupSession } from '../../../src/kafka/session/group-session.ts';
import type { GroupSessionOptions } from '../../../src/kafka/session/group-session.ts';
import { RecordPublisher } from '../../../src/kafka/record-publisher.ts';
import type { RecordPublisherPorts } from '../../../src/kafka/record-publisher.ts';
import { waitFor } from '../../support/wait-for.ts';
import { FakeGateways } from '../fake-gateways.ts';
import { convert, countingObserver, readableLog } from '../consumer-harness.ts';

const EVENTS = {
  GROUP_JOIN: 'GROUP_JOIN',
  REBALANCING: 'REBALANCING',
  HEARTBEAT: 'HEARTBEAT',
  RECEIVED_UNSUBSCRIBED_TOPICS: 'RECEIVED_UNSUBSCRIBED_TOPICS',
  CRASH: 'CRASH',
  STOP: 'STOP',
  END_BATCH_PROCESS: 'END_BATCH_PROCESS',
};

type Publish = RecordPublisherPorts['publish'];

const done = () => Promise.resolve();

/** Gateways with room for one record at a time. */
const oneByOne = () => Object.assign(new FakeGateways(), { initial: 1 });

/** A group session that has joined, with one partition, on a consumer and a bus that the test plays. */
async function createStage(
  t: TestContext,
  publish: Publish,
  { sessionTimeoutMs = 6000, gateways = oneByOne() }: { sessionTimeoutMs?: number; gateways?: FakeGateways } = {},
) {
  const { log } = readableLog();
  const flow = new FlowWait(gateways, log);
  const emitter = new EventEmitter();
  const state = {
    resolved: [] as string[],
    commits: [] as string[],
    leases: [] as PartitionLease[],
    looks: 0,
    isHeartbeatAnswered: true,
    /** What was paused, and resumed, after the join. */
    pauses: [] as string[],
  };
  let commit = () => Promise.resolve();
  let eachBatch: ConsumerRunConfig['eachBatch'];
  const join = () => emitter.emit(EVENTS.GROUP_JOIN, { payload: { memberAssignment: { bids: [0] } } });
  const consumer = {
    events: EVENTS,
    on: (name: string, listener: () => void) => emitter.on(name, listener),
    connect: done,
    subscribe: done,
    run: (config: ConsumerRunConfig) => {
      eachBatch = config.eachBatch;
      join();
      return Promise.resolve();
    },
    pause: (of: unknown) => state.pauses.push(`pause ${JSON.stringify(of)}`),
    resume: (of: unknown) => state.pauses.push(`resume ${JSON.stringify(of)}`),
    disconnect: done,
  } as unknown as Consumer;
  const session = new GroupSession({
    client: {
      kafka: { consumer: () => consumer },
      destroy: () => undefined,
    } as unknown as GroupSessionOptions['client'],
    groupId: 'group',
    sessionTimeoutMs,
    maxInflightBytes: 1_000_000,
    maxInflatedBytes: 1_000_000,
    topics: ['bids'],
    startOffsets: {
      lookUp: () => {
        state.looks++;
        return Promise.resolve({
          unknown: [],
          resumePoints: new Map([['bids', new Map([[0, { position: 6 }]])]]),
          uncommitted: [],
          pendingFills: [],
        });
      },
    },
    publisher: new RecordPublisher({ convert, publish, deadLetter: done, flow }, countingObserver(), log),
    flow,
    acquire: (lease) => Promise.resolve((state.leases.push(lease), undefined)),
    log,
    onJoined: () => undefined,
    facts: () => ({}),
    observer: countingObserver(),
    onUndescribed: () => undefined,
    onAssigned: () => undefined,
    onUnknownTopics: () => undefined,
    onJoin: () => undefined,
  });
  await session.open();
  state.pauses = [];
  t.after(() => session.close(100));
  /** Hands on records with offsets 7 and 8, behind which there are control records up to 11. */
  const batch = () =>
    eachBatch!({
      batch: {
        topic: 'bids',
        partition: 0,
        messages: [7, 8].map((offset) => ({ offset, timestamp: 0, key: null, value: Buffer.from('{}') })),
        lastOffset: () => '11',
      },
      resolveOffset: (offset: string) => state.resolved.push(offset),
      heartbeat: () => {
        if (state.isHeartbeatAnswered) emitter.emit(EVENTS.HEARTBEAT, {});
        return Promise.resolve();
      },
      pause: () => assert.fail('what resumes it would keep the records of the batch'),
      uncommittedOffsets: () => ({ topics: [{ topic: 'bids', partitions: [{ partition: 0, offset: '12' }] }] }),
      commitOffsetsIfNecessary: ({ topics }: { topics: { partitions: { metadata: string }[] }[] }) => {
        state.commits.push(topics[0]!.partitions[0]!.metadata);
        return commit();
      },
      isRunning: () => true,
      isStale: () => false,
    } as unknown as EachBatchPayload);
  return { session, state, batch, join, emitter, failCommits: (how: () => Promise<void>) => (commit = how) };
}

const accepting: Publish = done;

describe('GroupSession', () => {
  it('is positioned after the control records at the end of a batch', async (t) => {
    const { session, state, batch } = await createStage(t, accepting);
    await batch();
    assert.deepEqual(state.resolved, ['7', '8']);
    assert.equal(session.assignment.get('bids')?.get(0), 12);
  });

  it('is positioned at the next record in the middle of a batch', async (t) => {
    const first: Publish = (_messages, { offset }) =>
      offset === 7 ? done() : Promise.reject(new BusUnavailableError('away'));
    const { session, batch } = await createStage(t, first);
    await batch();
    assert.equal(session.assignment.get('bids')?.get(0), 8);
  });

  it('resolves no offset of a batch during which it rejoined the group', async (t) => {
    let publishes = 0;
    const publish: Publish = () => {
      publishes++;
      join();
      return done();
    };
    const { state, batch, join, session } = await createStage(t, publish);
    await batch();
    assert.equal(publishes, 1);
    assert.deepEqual(state.resolved, []);
    assert.equal(session.assignment.get('bids')?.get(0), undefined);
  });

  it('commits accepted records before it rejoins the group', async (t) => {
    const { state, batch, emitter } = await createStage(t, accepting);
    await batch();
    assert.deepEqual(state.commits, []);
    emitter.emit(EVENTS.REBALANCING, {});
    assert.deepEqual(state.commits, ['crier:8']);
  });

  it('retries a failed commit', async (t) => {
    const { state, batch, failCommits } = await createStage(t, accepting);
    failCommits(() => (state.commits.length === 1 ? Promise.reject(new Error('away')) : Promise.resolve()));
    await batch();
    await waitFor('the second commit', () => state.commits.length === 2);
    assert.deepEqual(state.commits, ['crier:8', 'crier:8']);
  });

  it('pauses a partition while the bus is down, and keeps no reference to its records', async (t) => {
    const { state, batch } = await createStage(t, () => Promise.reject(new BusUnavailableError('away')));
    await batch();
    await waitFor('the next attempt', () => state.pauses.length === 2);
    const partition = '[{"topic":"bids","partitions":[0]}]';
    assert.deepEqual(state.pauses, [`pause ${partition}`, `resume ${partition}`]);
  });

  it('does not resume a partition that waits for the bus once kafkajs has stopped', async (t) => {
    const { state, batch, emitter } = await createStage(t, () => Promise.reject(new BusUnavailableError('away')));
    await batch();
    emitter.emit(EVENTS.STOP);
    // Longer than the 50 ms of the first retry.
    await delay(60);
    assert.deepEqual(state.pauses, ['pause [{"topic":"bids","partitions":[0]}]']);
  });

  describe('with a batch that waits for gateways', () => {
    /** A detached batch. Its first publish ends when the test says how, once the gateways have room. */
    async function detach(t: TestContext) {
      let end!: (how: Promise<void>) => void;
      const ended = new Promise<void>((resolve) => (end = resolve));
      let publishes = 0;
      const publish: Publish = () => {
        publishes++;
        return ended;
      };
      const gateways = new FakeGateways();
      const stage = await createStage(t, publish, { gateways });
      let failure: Error | undefined;
      void stage.session.failed.then((error) => (failure = error));
      // For kafkajs it is over.
      await stage.batch();
      const isWaiting = () => gateways.waiting('bids', 0) === 1;
      assert.ok(isWaiting());
      return { ...stage, end, isWaiting, publishes: () => publishes, failure: () => failure, gateways };
    }

    /** The same, while its first publish is under way. */
    async function publishDetached(t: TestContext) {
      const stage = await detach(t);
      stage.gateways.grant('bids', 0, 1);
      await waitFor('the publish', () => stage.publishes() === 1);
      return stage;
    }

    it('lets kafkajs read on, and resolves the records when they are published', async (t) => {
      const { state, end } = await publishDetached(t);
      assert.deepEqual(state.resolved, []);
      end(done());
      await waitFor('the records', () => state.resolved.length === 2);
      assert.deepEqual(state.resolved, ['7', '8']);
    });

    it('ends the wait before it rejoins the group', async (t) => {
      const { emitter, isWaiting } = await detach(t);
      emitter.emit(EVENTS.REBALANCING, {});
      assert.equal(isWaiting(), false);
    });

    it('looks up the offsets after the batch has ended', async (t) => {
      const { state, end, emitter, join } = await publishDetached(t);
      emitter.emit(EVENTS.REBALANCING, {});
      join();
      await turn();
      assert.equal(state.looks, 1);
      end(done());
      await waitFor('the second look-up', () => state.looks === 2);
      assert.deepEqual(state.resolved, [], 'they may be of another member by now');
    });

    it('publishes no further chunk after a rebalance begins, and commits the last one at once', async (t) => {
      const { state, end, emitter, publishes } = await publishDetached(t);
      emitter.emit(EVENTS.REBALANCING, {});
      end(done());
      await turn();
      assert.equal(publishes(), 1);
      assert.deepEqual(state.resolved, ['7']);
      assert.deepEqual(state.commits.slice(-1), ['crier:7']);
    });

    it('ends the wait when it rejoins the group without a rebalance', async (t) => {
      const { join, isWaiting } = await detach(t);
      join();
      assert.equal(isWaiting(), false);
    });

    it('ends the wait when it is closed', async (t) => {
      const { session, isWaiting } = await detach(t);
      const closing = session.close(10_000);
      assert.equal(isWaiting(), false);
      await closing;
    });

    it('commits the published records when it is closed', async (t) => {
      const { session, state, end } = await publishDetached(t);
      const closing = session.close(10_000);
      end(done());
      await closing;
      assert.deepEqual(state.commits.slice(0, 1), ['crier:7']);
    });

    it('fails when the batch fails', async (t) => {
      const { end, failure } = await publishDetached(t);
      end(Promise.reject(new TypeError('broken')));
      assert.match(String(await waitFor('the failure', failure)), /broken/);
    });

    it('ignores a failed heartbeat of the batch, which kafkajs meets itself', async (t) => {
      const { end, failure, state } = await publishDetached(t);
      end(Promise.reject(new kafkajs.KafkaJSProtocolError(new Error('the group rebalances'))));
      await turn();
      assert.equal(failure(), undefined);
      assert.deepEqual(state.resolved, []);
    });
  });

  describe('whose publishes the bus fences', () => {
    const refused: Publish = () => Promise.reject(new FencedError('another'));
    const SESSION_TIMEOUT_MS = 60;

    async function refuse(t: TestContext, isHeartbeatAnswered: boolean) {
      const stage = await createStage(t, refused, { sessionTimeoutMs: SESSION_TIMEOUT_MS });
      const joinedAt = performance.now();
      await waitFor('half of the session', () => performance.now() - joinedAt > SESSION_TIMEOUT_MS / 2);
      stage.state.isHeartbeatAnswered = isHeartbeatAnswered;
      return stage;
    }

    it('leases the partition again while the coordinator answers its heartbeats', async (t) => {
      const { state, batch } = await refuse(t, true);
      await batch();
      await batch();
      assert.equal(state.leases.length, 2);
    });

    it('does not lease the partition again while no coordinator confirms its membership', async (t) => {
      const { state, batch } = await refuse(t, false);
      await assert.rejects(batch(), /no coordinator/);
      await assert.rejects(batch(), /no coordinator/);
      assert.equal(state.leases.length, 1);
    });
  });
});
