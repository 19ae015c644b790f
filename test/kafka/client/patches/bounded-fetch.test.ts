import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { PartitionAssigner } from 'kafkajs';
import { boundFetches } from '../../../../src/kafka/client/patches/bounded-fetch.ts';
import type { KafkaClient } from '../../../../src/kafka/client/kafka-client.ts';
import { partitionKey } from '../../../../src/kafka/partition-key.ts';
import { FlowWait } from '../../../../src/kafka/session/flow-wait.ts';
import { InflightBudget } from '../../../../src/kafka/client/fetching/inflight-budget.ts';
import { GroupSession } from '../../../../src/kafka/session/group-session.ts';
import type { FetchedRecord } from '../../../../src/kafka/client/fetching/record-batch.ts';
import { unlimited } from '../../fake-gateways.ts';
import { RecordPublisher } from '../../../../src/kafka/record-publisher.ts';
import { convert, countingObserver, readableLog } from '../../consumer-harness.ts';
import { encodedBatch, encodedResponse } from '../fetching/encoded-batch.ts';

const KIB = 1024;
const MAX_WAIT_MS = 250;
const FETCH_START = 'consumer.fetch_start';

interface Response {
  responses: { topicName: string; partitions: { partition: number; messages: FetchedRecord[] }[] }[];
}
interface Request {
  maxWaitTime: number;
  topics: { topic: string; partitions: { partition: number; fetchOffset: string }[] }[];
}
interface FakeBroker {
  nodeId: number;
  lookupRequest: () => () => { request: object; response: { decode: (payload: Buffer) => Promise<Response> } };
  fetch: (this: FakeBroker, request: Request) => Promise<Response>;
}

/** A cluster of brokers that have one batch of `bytes` for each partition of each topic that they are asked for. */
function createCluster(bytes: number, apiVersion = 11) {
  const records = encodedBatch([{ offsetDelta: 0, value: Buffer.alloc(bytes) }], { attributes: 1 });
  const brokers = new Map<string, FakeBroker>();
  /** For how long each fetch may wait for records. */
  const waits: number[] = [];
  const findBroker = ({ nodeId }: { nodeId: string }): Promise<FakeBroker> => {
    const broker = brokers.get(nodeId) ?? {
      nodeId: Number(nodeId),
      lookupRequest: () => () => ({
        request: { apiVersion },
        response: { decode: () => Promise.reject(new Error()) },
      }),
      fetch({ topics, maxWaitTime }) {
        waits.push(maxWaitTime);
        const partitions = topics.flatMap((of) =>
          of.partitions.map(({ partition }) => ({ ...of, partition, records })),
        );
        return this.lookupRequest()().response.decode(encodedResponse(partitions));
      },
    };
    brokers.set(nodeId, broker);
    return Promise.resolve(broker);
  };
  const cluster = { findBroker };
  const fetch = async (nodeId: number, ...topics: Request['topics']) => {
    const { responses } = await (
      await cluster.findBroker({ nodeId: `${nodeId}` })
    ).fetch({ topics, maxWaitTime: MAX_WAIT_MS });
    return responses.flatMap(({ topicName, partitions }) =>
      partitions.filter(({ messages }) => messages.length > 0).map(({ partition }) => `${topicName}/${partition}`),
    );
  };
  const use = (assigner: PartitionAssigner) => assigner({ cluster } as unknown as Parameters<PartitionAssigner>[0]);
  return { fetch, use, waits };
}

const topicOf = (topic: string, ...partitions: number[]) => ({
  topic,
  partitions: partitions.map((partition) => ({ partition, fetchOffset: '0' })),
});

describe('boundFetches', () => {
  it('serves every partition in turn while one fills the budget', async () => {
    const budget = new InflightBudget(100 * KIB);
    const { fetch, use } = createCluster(80 * KIB);
    use(boundFetches({ budget, maxInflatedBytes: 100 * KIB }));
    const served = new Set<string>();
    for (let i = 0; i < 6; i++) {
      for (const one of await fetch(1, topicOf('bids', 0, 1, 2), topicOf('lots', 0, 1, 2))) {
        served.add(one);
        const [topic = '', partition] = one.split('/');
        budget.releasePartition(partitionKey(topic, Number(partition)));
      }
    }
    assert.deepEqual([...served].sort(), ['bids/0', 'bids/1', 'bids/2', 'lots/0', 'lots/1', 'lots/2']);
  });

  it('omits a held partition until it is released, and counts its records over the next fetches', async () => {
    const budget = new InflightBudget(100 * KIB);
    const { fetch, use } = createCluster(40 * KIB);
    use(boundFetches({ budget, maxInflatedBytes: 100 * KIB }));
    const held = partitionKey('bids', 0);
    assert.deepEqual(await fetch(1, topicOf('bids', 0)), ['bids/0']);
    const { room } = budget;
    assert.ok(budget.hold(held));
    assert.deepEqual(await fetch(1, topicOf('bids', 0, 1)), ['bids/1']);
    budget.releaseNode('1');
    assert.equal(budget.room, room);
    budget.releasePartition(held);
    assert.equal(budget.room, 100 * KIB);
    assert.deepEqual(await fetch(1, topicOf('bids', 0)), ['bids/0']);
  });

  it('drops the records of a partition that became held while the fetch was in flight', async () => {
    const budget = new InflightBudget(100 * KIB);
    const { fetch, use, waits } = createCluster(KIB);
    use(boundFetches({ budget, maxInflatedBytes: 100 * KIB }));
    const fetching = fetch(1, topicOf('bids', 0, 1));
    // Its batches are inflated later than this turn.
    while (waits.length === 0) await Promise.resolve();
    budget.hold(partitionKey('bids', 0));
    assert.deepEqual(await fetching, ['bids/1']);
  });

  it('refuses a broker that is older than Kafka 0.11', async () => {
    const { fetch, use } = createCluster(KIB, 3);
    use(boundFetches({ budget: new InflightBudget(100 * KIB), maxInflatedBytes: 100 * KIB }));
    const refused = { name: 'KafkaJSNonRetriableError', message: /the broker is older than Kafka 0\.11/ };
    await assert.rejects(fetch(1, topicOf('bids', 0)), refused);
  });

  it('sends no fetch to a broker whose partitions are all held, until one is released', async () => {
    const budget = new InflightBudget(100 * KIB);
    const { fetch, use, waits } = createCluster(KIB);
    use(boundFetches({ budget, maxInflatedBytes: 100 * KIB }));
    const held = partitionKey('bids', 0);
    budget.hold(held);
    const fetching = fetch(1, topicOf('bids', 0));
    await turn();
    budget.releasePartition(held);
    assert.deepEqual(await fetching, []);
    assert.deepEqual(waits, []);
    await fetch(1, topicOf('bids', 0));
    budget.hold(held);
    await fetch(1, topicOf('bids', 0, 1));
    assert.deepEqual(waits, [MAX_WAIT_MS, 50], 'a fetch does not keep a partition waiting that is released meanwhile');
  });

  it('fetches again only after a release while all partitions of two brokers are held', async () => {
    const budget = new InflightBudget(100 * KIB);
    const { fetch, use } = createCluster(KIB);
    use(boundFetches({ budget, maxInflatedBytes: 100 * KIB }));
    const held = [0, 1].map((partition) => partitionKey('bids', partition));
    for (const one of held) budget.hold(one);
    let isDone = false;
    const fetches = [0, 0];
    // As kafkajs does: each broker is asked again as soon as it has answered.
    const fetchers = fetches.map(async (_, node) => {
      for (; !isDone && fetches[node]! < 1000; fetches[node]!++) await fetch(node + 1, topicOf('bids', node));
    });
    await turn();
    isDone = true;
    for (const one of held) budget.releasePartition(one);
    await Promise.all(fetchers);
    assert.deepEqual(fetches, [1, 1]);
  });

  it('releases records that a rebalance dropped, even if their broker is no longer fetched from', async (t) => {
    const { fetch, use } = createCluster(80 * KIB);
    const listeners = new Map<string, (event: { payload: object }) => void>();
    const consumer = {
      events: { FETCH_START },
      on: (event: string, listener: (event: { payload: object }) => void) => listeners.set(event, listener),
      connect: () => Promise.resolve(),
      subscribe: () => Promise.resolve(),
      run: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
    };
    const kafka = {
      consumer: ({ partitionAssigners }: { partitionAssigners: PartitionAssigner[] }) => {
        use(partitionAssigners[0]!);
        return consumer;
      },
    };
    const { log } = readableLog();
    const flow = new FlowWait(unlimited(), log);
    const done = () => Promise.resolve();
    const session = new GroupSession({
      client: { kafka, destroy: () => undefined } as unknown as KafkaClient,
      groupId: 'group',
      sessionTimeoutMs: 6000,
      maxInflightBytes: 100 * KIB,
      maxInflatedBytes: 100 * KIB,
      topics: ['bids'],
      startOffsets: {
        lookUp: () => Promise.resolve({ unknown: [], resumePoints: new Map(), uncommitted: [], pendingFills: [] }),
      },
      publisher: new RecordPublisher({ convert, publish: done, deadLetter: done, flow }, countingObserver(), log),
      flow,
      acquire: () => Promise.resolve(undefined),
      log,
      onJoined: () => undefined,
      facts: () => ({}),
      observer: countingObserver(),
      onUndescribed: () => undefined,
      onAssigned: () => undefined,
      onUnknownTopics: () => undefined,
      onJoin: () => undefined,
    });
    t.after(() => session.close(1000));
    await session.open();
    assert.deepEqual(await fetch(1, topicOf('bids', 0)), ['bids/0']);
    // As kafkajs does before each fetch, also where no partition of the broker is left to ask for.
    listeners.get(FETCH_START)?.({ payload: { nodeId: 1 } });
    assert.deepEqual(await fetch(2, topicOf('bids', 1)), ['bids/1']);
  });
});
