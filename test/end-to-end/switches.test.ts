import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { EXAMPLES, directivesDifference } from './switched-directives.ts';
import { OFF, PEOPLE, SETTINGS, Stage, TOPIC, comparable } from './switch-stage.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      auction(id: ID!): Auction
        @kafka(topic: "${TOPIC}", match: [{ arg: "id", path: "auction.id" }], payload: "auction", history: {})
      any: Auction @kafka(topic: "${TOPIC}", payload: "auction")
    }
    type Auction {
      id: ID! title: String price: Float days_on_market: Int tags: [String!] matrix: [[Int]] current_bid: Bid
      whose: String late: String tenant: Tenant fails: Int fails_for_bob: Int
    }
    type Bid { amount: Int! bidder_name: String }
    type Tenant { name: String title_length: Int }
  `,
  'resolvers.js': `
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    export const Auction = {
      whose: (_, __, { connection }) => connection.claims.user,
      late: async ({ title }, __, { connection }) => (await turn(), title && title + connection.claims.tenant),
      tenant: (auction, _, { connection }) => ({ name: connection.claims.tenant, auction }),
      fails: ({ days_on_market }) => {
        if (days_on_market > 2) throw new Error('masked');
        return days_on_market;
      },
      fails_for_bob: async (_, __, { connection }) => {
        await turn();
        if (connection.claims.user === 'bob') throw new Error('masked');
        return 1;
      },
    };
    export const Tenant = { title_length: ({ auction }) => auction.title?.length };
  `,
  'context.js': 'export const authenticate = ({ params }) => params.claims;',
};

const OPERATIONS = {
  plain:
    'subscription { auction(id: 1) { id title price days_on_market tags matrix current_bid { amount bidder_name } } }',
  same: 'subscription { any { title price id current_bid { amount } } }',
  user: 'subscription { any { id whose late fails_for_bob } }',
  tenant: 'subscription { any { title tenant { name title_length } fails tags } }',
};
const RESUMED = 'subscription { auction(id: 1) { days_on_market late title } }';

const sometimes = <T>(usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 'x', 1.5, [], {}) });
const record = fc.record(
  {
    id: fc.constantFrom<unknown>(1, '1', 2),
    title: sometimes(fc.string({ unit: 'binary', maxLength: 20 })),
    price: sometimes(fc.double({ noNaN: true, noDefaultInfinity: true })),
    daysOnMarket: sometimes(fc.nat(5)),
    tags: sometimes(fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 })),
    matrix: sometimes(fc.array(fc.array(fc.nat(9), { maxLength: 2 }), { maxLength: 2 })),
    currentBid: sometimes(
      fc.record({ amount: sometimes(fc.nat()), bidderName: sometimes(fc.string()) }, { requiredKeys: [] }),
    ),
    notSelected: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['id'] },
);

/** Publishes the records and returns the messages that each client receives for them, with those of a client that resumes. */
async function messagesOf(stage: Stage, records: readonly { readonly id?: unknown }[]): Promise<string[][]> {
  const ofAuction = records.filter(({ id }) => String(id) === '1').length;
  await stage.publish(records.map((auction) => ({ value: { auction } })));
  const messages: string[][] = [];
  for (const client of stage.clients) {
    for (const id of Object.keys(OPERATIONS)) {
      messages.push(comparable(await client.take(id, id === 'plain' ? ofAuction : records.length)));
    }
  }
  const [first] = messages[0]!;
  if (first === undefined) return messages;
  const { cursor } = (JSON.parse(first) as { payload: { extensions: { cursor: string } } }).payload.extensions;
  for (const client of stage.clients) client.subscribe('resumed', RESUMED, { resume: { cursor } });
  for (const client of stage.clients) {
    messages.push(comparable(await client.take('resumed', ofAuction - 1)));
    client.complete('resumed');
    await client.settle();
  }
  return messages;
}

const isShared = ({ DISABLE = '' }: Readonly<Record<string, string>>) => !DISABLE.includes('sharing');

describe('each technique, turned off', () => {
  it('changes no message that a client receives: random records, live and resumed', async (t) => {
    // A cursor has the epoch of its topic, which is the time of the first lease.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const folder = await graphFolder(t, GRAPH);
    const stages: Stage[] = [];
    for (const settings of SETTINGS) stages.push(await Stage.start(t, folder, settings));
    for (const stage of stages) {
      for (const client of stage.clients) {
        for (const [id, query] of Object.entries(OPERATIONS)) client.subscribe(id, query);
      }
      await stage.settle();
    }
    for (const [i, { COMPRESSION }] of SETTINGS.entries())
      for (const { isCompressed } of stages[i]!.clients) assert.equal(isCompressed, COMPRESSION === 'on');
    let events = 0;
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 6 }), async (records) => {
        const received = await Promise.all(stages.map((stage) => messagesOf(stage, records)));
        events += records.length;
        failed += received[0]!.flat().filter((text) => text.includes('"errors":')).length;
        for (const [i, messages] of received.entries())
          assert.deepEqual(messages, received[0], JSON.stringify(SETTINGS[i]));
      }),
      { numRuns: 60, endOnFailure: true, includeErrorInReport: true },
    );
    assert.ok(failed > 50, `only ${failed} messages with errors`);
    const executions = await Promise.all(stages.map((stage) => stage.executions()));
    for (const [i, settings] of SETTINGS.entries()) {
      if (isShared(settings)) assert.ok(executions[i]! < executions[OFF.findIndex((off) => !isShared(off))]!);
      else assert.ok(executions[i]! >= events * PEOPLE.length * 3, `${executions[i]} executions`);
      if (settings['COMPRESSION'] === 'on') assert.ok((await stages[i]!.compressedBytes()) > 10_000);
    }
  });

  it('changes no message of lists, filters, records, states, tombstones and plain channels: random records', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const { property, seen } = await directivesDifference(t);
    await fc.assert(property, { numRuns: 12, examples: EXAMPLES, endOnFailure: true, includeErrorInReport: true });
    for (const [what, count] of Object.entries(seen)) assert.ok(count > 0, `no ${what}`);
  });

  it('names the locations of errors with DISABLE=compact-ast only', async (t) => {
    const folder = await graphFolder(t, GRAPH);
    for (const DISABLE of ['', 'compact-ast']) {
      const stage = await Stage.start(t, folder, { DISABLE });
      const [client] = stage.clients;
      client!.subscribe('fails', 'subscription { any {\n  fails } }');
      await stage.settle();
      await stage.publish([{ value: { auction: { id: 1, daysOnMarket: 5 } } }]);
      const [text] = await client!.take('fails', 1);
      assert.equal(text!.includes('"locations":[{"line":2,"column":3}]'), DISABLE !== '', text);
    }
  });

  it('makes one write of each message to a socket with DISABLE=write-batching, of all messages of a turn without', async (t) => {
    const folder = await graphFolder(t, GRAPH);
    for (const DISABLE of ['', 'write-batching']) {
      const stage = await Stage.start(t, folder, { DISABLE });
      const [client] = stage.clients;
      client!.subscribe('same', OPERATIONS.same);
      await stage.settle();
      const writes = countWrites(t, stage.port);
      await stage.publish(Array.from({ length: 20 }, (_, i) => ({ value: { auction: { id: 1, price: i } } })));
      await client!.take('same', 20);
      const count = writes();
      if (DISABLE !== '') assert.equal(count, 20);
      else assert.ok(count < 20, `${count} writes`);
    }
  });
});

type Write = (this: Socket, ...parameters: unknown[]) => void;

/** Counts the writes of sockets that were accepted on a port, until the count is read. */
function countWrites(t: TestContext, port: number): () => number {
  let writes = 0;
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', Write>;
  const { _write, _writev } = prototype;
  const counting = (write: Write): Write =>
    function count(...parameters) {
      if (this.localPort === port) writes++;
      write.apply(this, parameters);
    };
  Object.assign(prototype, { _write: counting(_write), _writev: counting(_writev) });
  const restore = () => void Object.assign(prototype, { _write, _writev });
  t.after(restore);
  return () => {
    restore();
    return writes;
  };
}
