import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import kafkajs from 'kafkajs';
import { freePorts } from '../../../stack/port.ts';
import { createTopics } from '../../../stack/topics.ts';
import { auctionDocument } from '../../../loadtest/fanout/auction.ts';
import { buildForBrowsers } from '../../../loadtest/ladder/browser-build.ts';
import { rungs } from '../../../loadtest/ladder/rungs.ts';
import { semiSpacePod } from '../../../loadtest/ladder/semi-space.ts';
import { startServerProcess } from '../../../loadtest/processes/server-process.ts';
import type { Pod } from '../../../loadtest/story/pods/pod.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { kafkaBrokers, randomName, redisServer } from '../../support/services.ts';
import { watch } from '../../support/stock-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const TOPIC = 'auction-events';
const AUCTION_ID = 982451;
const JOINING_MS = 30_000;

type Tree = Record<string, unknown>;

/** A numbered copy of the flood's record. */
function numberedRecord(version: number): { auction: Tree } {
  const record = JSON.parse(readFileSync('loadtest/records/auction.json', 'utf8')) as { auction: Tree };
  return { ...record, auction: { ...record.auction, version } };
}

describe('the ladder', { concurrency: 2 }, () => {
  const closers: (() => Promise<void>)[] = [];
  let brokers: string;
  let produce: (value: string) => Promise<unknown>;

  before(async () => {
    brokers = await kafkaBrokers({ after: (close) => void closers.unshift(close) });
    await createTopics(brokers, [{ topic: TOPIC, numPartitions: 4 }]);
    const producer = new kafkajs.Kafka({ brokers: brokers.split(',') }).producer();
    await producer.connect();
    closers.unshift(() => producer.disconnect());
    produce = (value) => producer.send({ topic: TOPIC, messages: [{ value }] });
    await buildForBrowsers();
  });
  after(async () => {
    for (const close of closers) await close();
  });

  /** Starts the pod, waits until a stock client has received one event, and stops the pod. */
  async function serveOneEvent(t: TestContext, pod: Pod): Promise<Tree> {
    const redis = await redisServer(t);
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const script = new URL(`../../../loadtest/${pod.script}`, import.meta.url).pathname;
    const settings = {
      ADMIN_PORT: String(adminPort),
      KAFKA_BROKERS: brokers,
      KAFKA_GROUP_ID: randomName('ladder'),
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: `${randomName('ladder')}:`,
      ...pod.environment,
    };
    const server = await startServerProcess(script, port, settings, pod.nodeArguments);
    t.after(() => server.stop());
    const query = auctionDocument();
    const subscriber = watch(t, `ws://127.0.0.1:${port}/graphql`, query, { auction_id: AUCTION_ID });
    let version = 0;
    // A new member may look up the topic's end after it has joined, so records are written until one arrives.
    const event = await waitFor(
      'an event',
      async () => {
        await produce(JSON.stringify(numberedRecord(++version)));
        return subscriber.events[0] ?? subscriber.failures[0];
      },
      JOINING_MS,
    );
    assert.ok(typeof event === 'object', `the subscription ended: ${JSON.stringify(event)}`);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    assert.match(metrics, /^crier_records_consumed_total(\{.*\})? [1-9]/m);
    await server.stop();
    return event['auction_updated'] as Tree;
  }

  for (const { name, pod } of [...rungs, { name: 'semi-space', pod: semiSpacePod(16) }]) {
    if (!pod) continue;
    it(`${name}: starts, serves a stock client one event and ends`, async (t) => {
      const served = await serveOneEvent(t, pod);
      const { auction } = new SnakeCase().convertObjToSnakeKeys(numberedRecord(served['version'] as number)) as {
        auction: Tree;
      };
      const asked = Object.fromEntries(Object.keys(served).map((field) => [field, auction[field]]));
      const { event, external_identifiers, seller_info } = served;
      assert.ok(Object.keys(served).length > 20);
      assert.deepEqual({ ...served, ...asked }, asked, 'every field is one of the record');
      assert.deepEqual(
        { event, external_identifiers, seller_info },
        {
          event: auction['event'],
          external_identifiers: auction['external_identifiers'],
          seller_info: auction['seller_info'],
        },
      );
    });
  }

  it('compiles for browsers in the rungs before the build for Node', () => {
    const read = (build: string) => readFileSync(`dist/loadtest/ladder/${build}/consumer.js`, 'utf8');
    assert.match(read('pod'), /eachMessage: async \(/);
    assert.match(read('pod-browser'), /_asyncToGenerator/);
    assert.doesNotMatch(read('pod-browser'), /\basync\b[^T]/);
  });
});
