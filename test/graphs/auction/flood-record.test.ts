import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { buildASTSchema, getNamedType, isObjectType, parse } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import { createTopics } from '../../../stack/topics.ts';
import { auctionDocument, plainSdl } from '../../../loadtest/fanout/auction.ts';
import { SampleBackends } from '../../../src/graph/embedded/sample-backends.ts';
import { backends } from '../../../examples/auction/context.ts';
import * as resolvers from '../../../examples/auction/resolvers.ts';
import { records, respond } from '../../../examples/auction/samples.ts';
import { spawnPod } from '../../end-to-end/pod-process.ts';
import { kafkaBrokers, randomName, redisServer } from '../../support/services.ts';
import { watch } from '../../support/stock-client.ts';
import { waitFor } from '../../support/wait-for.ts';
import { auctionSchema, everyField, payloadOf } from './auction-graph.ts';

const TOPIC = 'auction-events';
const JOINING_MS = 30_000;

type Tree = Readonly<Record<string, unknown>>;

const text = await readFile('loadtest/records/auction.json', 'utf8');
const record = JSON.parse(text) as { auction: Tree & { auctionId: number } };
const payload = payloadOf({ topic: TOPIC, value: record }) as { auction: Tree };

/** The keys of an object, with those of the objects in it; of a list, those of its first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? 'no items' : shapeOf(value[0]);
  if (typeof value !== 'object' || value === null) return 'a value';
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

/** The fields of a type that payloads have, in the form of `shapeOf`. */
function payloadShapeOf(type: GraphQLObjectType, withoutFields: (type: string) => object): unknown {
  const fields = Object.values(type.getFields()).filter(({ name }) => !(name in withoutFields(type.name)));
  return Object.fromEntries(
    fields.map(({ name, type: fieldType }) => {
      const inner = getNamedType(fieldType);
      return [name, isObjectType(inner) ? payloadShapeOf(inner, withoutFields) : 'a value'];
    }),
  );
}

const auctionOf = (schema: GraphQLSchema) => schema.getType('Auction') as GraphQLObjectType;
const resolversOf = (type: string): object => (resolvers as Readonly<Record<string, object>>)[type] ?? {};
const identityOf = (type: string): object => (type === 'Auction' ? { tenant: true, viewer: true } : {});

describe("the flood's record", () => {
  it('has the fields of Auction that have no resolver, in the order of the schema', async () => {
    const expected = payloadShapeOf(auctionOf(await auctionSchema()), resolversOf);
    const noFallout = { ...(expected as Tree), fallout_history: 'no items' };
    assert.equal(JSON.stringify(shapeOf(payload.auction)), JSON.stringify(noFallout));
  });

  it('has the fields of Auction in the graph of the benchmarks', async () => {
    const light = payloadShapeOf(auctionOf(buildASTSchema(parse(plainSdl()))), identityOf);
    assert.deepEqual(light, payloadShapeOf(auctionOf(await auctionSchema()), resolversOf));
  });

  it('has the values of the story', () => {
    const { auction } = record;
    assert.equal(auction['visibleAuctionStartDateTime'], '2024-02-18T12:30:11.683612Z');
    assert.equal(auction['createdBy'], 0);
    assert.equal(auction['createdByOrigin'], 'MORPHEUS');
    assert.equal(auction['daysOnMarket'], null);
    assert.equal(auction['dropboxResponseId'], null);
    assert.deepEqual(auction['event'], { eventId: 2492806, eventCode: '0-T' });
    assert.equal((auction['externalIdentifiers'] as unknown[]).length, 2);
    assert.equal(auction['externalSyncStatus'], 'PENDING');
    assert.deepEqual(auction['falloutHistory'], []);
    assert.deepEqual(auction['fclMarketing'], {
      appraiserUri: null,
      clerk0: null,
      hasCreditBidJustBeenRevealed: false,
      hasSearchableOrPublishedChanged: false,
      isAuctionStatusChanged: false,
    });
  });

  it('has 1.9 KB, as in all results of the benchmarks', () => {
    const bytes = Buffer.byteLength(JSON.stringify(record));
    assert.ok(bytes > 1850 && bytes < 2050, `${bytes} bytes`);
  });

  it('reaches a subscription of every payload field without an error', async (t) => {
    const stage = await startAuctionPod(t);
    const subscription = watch(t, stage.pod.url, auctionDocument(), { auction_id: record.auction.auctionId });
    const event = await firstEvent(stage, subscription);
    assert.deepEqual(event['auction_updated'], payload.auction);
  });

  it('reaches a subscription of every field, also those with resolvers, without an error', async (t) => {
    const stage = await startAuctionPod(t);
    const selection = everyField(auctionOf(await auctionSchema()));
    const query = `subscription { auction_updated(auction_id: ${record.auction.auctionId}) ${selection} }`;
    const { auction_updated: auction } = await firstEvent(stage, watch(t, stage.pod.url, query));
    const nothing = Object.entries(auction as Tree).filter(([, value]) => value === null);
    assert.deepEqual(
      nothing.map(([name]) => name),
      ['days_on_market', 'dropbox_response_id'],
    );
  });
});

describe('the records of the auction samples', () => {
  it("have the fields of the flood's record, in its order", () => {
    const generator = records(1);
    const auctions = Array.from({ length: 200 }, () => generator.next().value).filter(({ topic }) => topic === TOPIC);
    for (const { value } of auctions) {
      const shape = { ...(shapeOf(value) as { auction: Tree }).auction, falloutHistory: 'no items' };
      assert.equal(JSON.stringify({ auction: shape }), JSON.stringify(shapeOf(record)));
    }
  });
});

/** crier with the auction graph between a Kafka, a Redis and the sample backends. Its executions would starve those who write records. */
async function startAuctionPod(t: TestContext) {
  const brokers = await kafkaBrokers(t);
  await createTopics(brokers, [{ topic: TOPIC, numPartitions: 4 }]);
  const { url } = await redisServer(t);
  const server = new SampleBackends({ log: pino({ enabled: false }) });
  server.respond = respond;
  const addresses = [...(await server.urlsOf(backends))].map(
    ([name, backend]) => [`BACKEND_${name}_URL`, backend.url] as const,
  );
  t.after(() => server.close());
  const pod = await spawnPod(t, {
    ...Object.fromEntries(addresses),
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: randomName('auction'),
    // A new group member may look up the topic's end after it has joined.
    KAFKA_FROM_BEGINNING: 'true',
    REDIS_URL: url,
    CHANNEL_PREFIX: `${randomName('auction')}:`,
    MAX_QUERY_DEPTH: '12',
    MAX_QUERY_TOKENS: '5000',
    BACKEND_TIMEOUT_MS: '30000',
    EXECUTION_TIMEOUT_MS: '60000',
  }).started();
  const producer = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).producer();
  await producer.connect();
  t.after(() => producer.disconnect());
  return { pod, produce: () => producer.send({ topic: TOPIC, messages: [{ value: text }] }) };
}

async function firstEvent(
  { pod, produce }: Awaited<ReturnType<typeof startAuctionPod>>,
  subscription: ReturnType<typeof watch>,
): Promise<Tree> {
  await pod.counts('crier_channels', 1);
  await produce();
  await waitFor('an event', () => subscription.events.length + subscription.failures.length > 0, JOINING_MS);
  return subscription.event();
}
