import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { buildSchema, executeSync, parse } from 'graphql';
import kafkajs from 'kafkajs';
import { WebSocket } from 'ws';
import { createTopics } from '../../../stack/topics.ts';
import { auctionDocument, plainSdl } from '../../../loadtest/fanout/auction.ts';
import { buildForBrowsers } from '../../../loadtest/ladder/browser-build.ts';
import { rungs, semiSpacePod } from '../../../loadtest/ladder/rungs.ts';
import { startServer } from '../../../loadtest/processes/server-process.ts';
import type { Pod } from '../../../loadtest/story/pods/pod.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { kafkaBrokers, randomName, redisServer } from '../../support/services.ts';
import { watch } from '../../support/stock-client.ts';
import type { Data } from '../../support/stock-client.ts';
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

  /** Starts the pod, waits until a stock client has received one event, and stops the pod. `text`: the message as it arrived. */
  async function serveOneEvent(t: TestContext, pod: Pod): Promise<{ data: Data; text: string }> {
    const redis = await redisServer(t);
    const settings = {
      KAFKA_BROKERS: brokers,
      KAFKA_GROUP_ID: randomName('ladder'),
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: `${randomName('ladder')}:`,
      ...pod.environment,
    };
    const server = await startServer({ ...pod, environment: settings }, t);
    const texts: string[] = [];
    const webSocketImpl = class extends WebSocket {
      constructor(url: string, protocol: string) {
        super(url, protocol);
        this.on('message', (bytes: Buffer) => texts.push(bytes.toString()));
      }
    };
    const variables = { auction_id: AUCTION_ID };
    const subscriber = watch(t, `ws://127.0.0.1:${server.port}/graphql`, auctionDocument(), variables, {
      webSocketImpl,
    });
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
    assert.match(await server.metrics(), /^crier_records_consumed_total(\{.*\})? [1-9]/m);
    await server.stop();
    return { data: event, text: texts.find((message) => message.includes('"next"'))! };
  }

  for (const { name, pod } of [...rungs, { name: 'semi-space', pod: semiSpacePod(16) }]) {
    if (!pod) continue;
    it(`${name}: serves a stock client the bytes that graphql-js makes of the record, and ends`, async (t) => {
      const { data, text } = await serveOneEvent(t, pod);
      const { version } = data['auction_updated'] as { version: number };
      const { auction } = new SnakeCase().convertObjToSnakeKeys(numberedRecord(version));
      const expected = executeSync({
        schema: buildSchema(plainSdl('examples/auction')),
        document: parse(auctionDocument()),
        rootValue: { auction_updated: auction },
        variableValues: { auction_id: AUCTION_ID },
      });
      assert.equal(expected.errors, undefined);
      assert.deepEqual(data['auction_updated'], auction, 'the document selects every field of the record');
      assert.ok(text.includes(`"data":${JSON.stringify(expected.data)}`), text);
    });
  }

  it('compiles for browsers in the rungs before the build for Node', () => {
    const read = (build: string) => readFileSync(`dist/loadtest/ladder/${build}/consumer.js`, 'utf8');
    assert.match(read('pod'), /eachMessage: async \(/);
    assert.match(read('pod-browser'), /_asyncToGenerator/);
    assert.doesNotMatch(read('pod-browser'), /\basync\b[^T]/);
  });
});
