import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import type { Pod } from './pod.ts';
import { startPod, startRefusal } from './pod-server.ts';

const schemaOf = (topic: string) => `
  type Subscription {
    bid_placed(auction_id: ID!): Bid @kafka(topic: "${topic}", match: [{ arg: "auction_id", path: "auction_id" }])
  }
  type Bid { auction_id: ID! amount: Int }
  type Mutation {
    place_bid(input: BidInput!): Accepted! @kafkaPublish(topic: "${topic}", key: "input.auction_id", keys: CAMEL)
    place_as_user(input: BidInput!): Accepted @authenticated @kafkaPublish(topic: "${topic}", claims: ["sub"])
    place_by_hand(input: BidInput!): Accepted
  }
  input BidInput { auction_id: ID! amount: Int! }
  type Accepted { topic: String! partition: Int! offset: ID! timestamp: String! key: String }
  type Query { publishes: String }
`;
const RESOLVERS = `
  export const Mutation = {
    place_by_hand: (_, { input }, context) =>
      context.publish(context.connection.headers['x-topic'] ?? 'none', { key: 'by-hand', value: input, headers: { by: 'hand' } }),
  };
  export const Query = { publishes: (_, args, context) => context.publish('t', { value: {} }).then(() => 'yes', () => 'no') };
`;
const CONTEXT = `export const authenticate = ({ params }) => (params.sub ? { sub: params.sub } : {});`;
const PLACE = `mutation ($input: BidInput!) { place_bid(input: $input) { topic partition offset timestamp key } }`;

interface Reply {
  readonly data?: Record<string, Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

async function post(pod: Pod, query: string, variables: object, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(pod.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as Reply;
}

/** Places bids until one arrives, because the protocol does not acknowledge a subscribe. */
async function placeUntilSeen(pod: Pod, subscription: Watch): Promise<Reply> {
  for (let i = 1; ; i++) {
    const reply = await post(pod, PLACE, { input: { auction_id: '7', amount: 5 } });
    assert.equal(reply.errors, undefined, JSON.stringify(reply));
    const event = await subscription.event(1, 2000).catch((error: unknown) => {
      if (i === 20 || subscription.failures.length > 0) throw error;
    });
    if (event) return reply;
  }
}

const files = (topic: string) => ({
  'schema.graphql': schemaOf(topic),
  'resolvers.js': RESOLVERS,
  'context.js': CONTEXT,
});
const BID = 'subscription { bid_placed(auction_id: "7") { auction_id amount } }';

describe('a mutation that publishes', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  const settingsFor = async (t: Parameters<typeof redisServer>[0], topic: string) => {
    const name = randomName('bids');
    return {
      GRAPH: await graphFolder(t, files(topic)),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
  };

  it('reaches the subscription of another client through Kafka, and says where the record is', async (t) => {
    const topic = await outside.createTopic();
    const pod = await startPod(t, { ...(await settingsFor(t, topic)), MAX_RECORD_BYTES: '1024' });
    const subscription = watch(t, pod.url, BID);
    const reply = await placeUntilSeen(pod, subscription);
    assert.deepEqual(subscription.events[0], { bid_placed: { auction_id: '7', amount: 5 } });
    const accepted = reply.data!['place_bid']!;
    assert.deepEqual([accepted['topic'], accepted['key']], [topic, '7']);
    assert.match(String(accepted['offset']), /^\d+$/);
    assert.ok(Math.abs(Date.parse(String(accepted['timestamp'])) - Date.now()) < 60_000);

    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const manual = 'mutation ($input: BidInput!) { place_by_hand(input: $input) { topic key } }';
    const input = { auction_id: '7', amount: 6 };
    const byHand = await post(pod, manual, { input }, { 'x-topic': topic, traceparent });
    assert.deepEqual(byHand, { data: { place_by_hand: { topic, key: 'by-hand' } } });
    const seen = subscription.events.length;
    await subscription.event(seen + 1).catch(() => undefined);
    assert.ok(subscription.events.some((event) => JSON.stringify(event).includes('"amount":6')));

    const missing = await post(pod, manual, { input }, { 'x-topic': randomName('missing') });
    assert.equal(missing.errors?.[0]?.extensions.code, 'KAFKA_REFUSED');
    const large = await post(pod, PLACE, { input: { auction_id: 'x'.repeat(2000), amount: 1 } });
    assert.equal(large.errors?.[0]?.extensions.code, 'BAD_USER_INPUT');
    const anonymous = `mutation ($input: BidInput!) { place_as_user(input: $input) { key } }`;
    const refused = await post(pod, anonymous, { input });
    assert.equal(refused.errors?.[0]?.extensions.code, 'UNAUTHENTICATED');
    assert.deepEqual(await post(pod, '{ publishes }', {}), { data: { publishes: 'no' } });
    assert.ok((await pod.metric(`crier_published_records_total{topic="${topic}",outcome="written"}`)) >= 2);
  });

  it('refuses an input that is larger than MAX_RECORD_BYTES before it asks Kafka (S-99)', async (t) => {
    const settings = { ...(await settingsFor(t, 'bids')), ROLE: 'gateway', KAFKA_BROKERS: '127.0.0.1:1' };
    const pod = await startPod(t, { ...settings, MAX_RECORD_BYTES: '1024' });
    const codeOf = async (auction_id: string) => {
      const { errors } = await post(pod, PLACE, { input: { auction_id, amount: 1 } });
      return errors?.[0]?.extensions.code;
    };
    assert.equal(await codeOf('x'.repeat(1024)), 'BAD_USER_INPUT');
    assert.equal(await codeOf('x'.repeat(100)), 'KAFKA_UNAVAILABLE');
  });

  it('answers KAFKA_UNAVAILABLE from a gateway whose brokers are away', async (t) => {
    const settings = await settingsFor(t, 'bids');
    const pod = await startPod(t, { ...settings, ROLE: 'gateway', KAFKA_BROKERS: '127.0.0.1:1' });
    const reply = await post(pod, PLACE, { input: { auction_id: '7', amount: 5 } });
    assert.deepEqual(reply.errors?.[0]?.extensions.code, 'KAFKA_UNAVAILABLE');
    assert.match(reply.errors[0].message, /nothing was written/);
  });

  it('stops the start of a gateway that knows no brokers', async (t) => {
    const settings = await settingsFor(t, 'bids');
    const refusal = await startRefusal(t, { ...settings, KAFKA_BROKERS: '', ROLE: 'gateway' });
    assert.match(refusal, /KAFKA_BROKERS: expected brokers, because Mutation\.place_bid has @kafkaPublish, got none/);
  });

  it('reaches the subscription without Kafka in the embedded mode', async (t) => {
    const pod = await startPod(t, { GRAPH: await graphFolder(t, files('bids')) });
    const subscription = watch(t, pod.url, BID);
    const reply = await placeUntilSeen(pod, subscription);
    assert.deepEqual(subscription.events[0], { bid_placed: { auction_id: '7', amount: 5 } });
    assert.deepEqual(reply.data?.['place_bid']?.['partition'], 0);
  });
});
