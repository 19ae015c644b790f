import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openGraphiql } from '../gateway/http/graphiql-page.ts';
import { startBroker } from '../support/own-broker.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';

const TOPIC = 'bids';
const SCHEMA = `
  type Query { ready: Boolean }
  type Subscription {
    bid_placed(auction_id: ID!): Bid @kafka(topic: "${TOPIC}", match: [{ arg: "auction_id", path: "auction_id" }])
  }
  type Bid { auction_id: ID! amount: Int }
  type Mutation {
    place_bid(input: BidInput!): Accepted! @kafkaPublish(topic: "${TOPIC}", key: "input.auction_id", keys: CAMEL)
  }
  input BidInput { auction_id: ID! amount: Int! }
  type Accepted { offset: ID! }`;
/** The record may be written. */
const UNCONFIRMED = 'KAFKA_UNCONFIRMED';
/** Of bids that GraphiQL places; the others count from 1. */
const FIRST_OF_PAGE = 1_000_000;
const PATIENCE_MS = 60_000;

/** Places bids over one socket, several at a time, until `stop`. */
class Bidders {
  readonly acknowledged = new Set<number>();
  /** Error codes, by amount. */
  readonly failed = new Map<number, string>();
  /** Codes of sockets that were closed before an answer. */
  readonly closes: string[] = [];
  readonly #client;
  readonly #loops: Promise<void>[];
  #amount = 0;
  #isOver = false;

  constructor(pod: Pod) {
    this.#client = createClient({ url: pod.url, webSocketImpl: WebSocket, retryAttempts: 0 });
    this.#loops = Array.from({ length: 8 }, () => this.#bid());
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
    await this.#client.dispose();
  }

  async #bid(): Promise<void> {
    const query = 'mutation ($input: BidInput!) { place_bid(input: $input) { offset } }';
    while (!this.#isOver) {
      const amount = ++this.#amount;
      const results = this.#client.iterate({ query, variables: { input: { auction_id: '7', amount } } });
      try {
        for await (const { errors } of results) {
          if (errors) this.failed.set(amount, String(errors[0]!.extensions?.['code']));
          else this.acknowledged.add(amount);
        }
      } catch (error) {
        // The socket was closed before the answer: nobody knows. The next bid opens another one.
        this.failed.set(amount, UNCONFIRMED);
        this.closes.push(String((error as { code?: number }).code ?? error));
      }
    }
  }
}

describe('mutations that publish, with Kafka killed in the middle', () => {
  it('acknowledge no bid that is lost, and lose none that they acknowledged, from GraphiQL and from stock clients', async (t) => {
    const node = await startBroker(t, TOPIC);
    const name = randomName('bids');
    const settings = {
      GRAPH: await graphFolder(t, { 'schema.graphql': SCHEMA }),
      KAFKA_BROKERS: node.address,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      KAFKA_FROM_BEGINNING: 'true',
      REDIS_URL: (await redisServer(t)).url,
      CHANNEL_PREFIX: `${name}:`,
    };
    const [reader, writer] = await Promise.all([
      spawnPod(t, settings).started(),
      spawnPod(t, { ...settings, ROLE: 'gateway' }).started(),
    ]);
    const subscription = watch(t, reader.url, 'subscription { bid_placed(auction_id: "7") { amount } }');
    await reader.counts('crier_channels', 1);
    const graphiql = await openGraphiql(t, new URL('/', writer.endpoint).href);

    const placed = new Set<number>();
    let onPage = FIRST_OF_PAGE;
    /** Places another bid from the page, and resolves with what the page shows of it. */
    const placeOnPage = async (): Promise<string> => {
      const amount = ++onPage;
      const operation = `mutation Bid${amount} { place_bid(input: { auction_id: "7", amount: ${amount} }) { bid${amount}: offset } }`;
      await graphiql.type(operation);
      await graphiql.pressRun();
      const isOfBid = (text: string) => text.includes(`"bid${amount}"`) || text.includes('"errors"');
      await waitFor('the run to end', async () => !(await graphiql.isRunning()), PATIENCE_MS);
      const result = await graphiql.waitForEvent(isOfBid, PATIENCE_MS);
      if (result.includes(`"bid${amount}"`)) placed.add(amount);
      return result;
    };

    await placeOnPage();
    assert.equal(placed.size, 1);
    const bidders = new Bidders(writer);
    await waitFor('bids', () => bidders.acknowledged.size > 100, PATIENCE_MS);
    await node.kill();
    await waitFor('refused bids', () => bidders.failed.size > 8, PATIENCE_MS);
    assert.match(await placeOnPage(), /Kafka[^]*"code": "KAFKA_UNAVAILABLE"/);
    await node.start();
    const before = bidders.acknowledged.size;
    await waitFor('bids again', () => bidders.acknowledged.size > before + 100, PATIENCE_MS);
    await placeOnPage();
    assert.ok(placed.has(onPage), 'GraphiQL places bids again');
    await bidders.stop();

    const acknowledged = [...placed, ...bidders.acknowledged];
    const received = () => subscription.events.map(({ bid_placed: bid }) => (bid as { amount: number }).amount);
    await waitFor(
      'every acknowledged bid',
      () => {
        const amounts = new Set(received());
        return acknowledged.every((amount) => amounts.has(amount));
      },
      PATIENCE_MS,
    );
    const amounts = received();
    assert.equal(new Set(amounts).size, amounts.length, 'a bid was received twice');
    for (const [amount, code] of bidders.failed) {
      if (code !== UNCONFIRMED) assert.ok(!amounts.includes(amount), `${amount} was ${code} and is written`);
    }
    t.diagnostic(
      `${acknowledged.length} acknowledged, ${bidders.failed.size} failed, ${amounts.length} received; closed: ${bidders.closes.join()}`,
    );
  });
});
