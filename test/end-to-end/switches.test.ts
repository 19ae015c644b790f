import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { readConfig } from '../../src/config.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { createRouters } from '../../src/graph/router.ts';
import { keyPlaces } from '../../src/graph/schema/key-places.ts';
import { Converter } from '../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../src/kafka/decoding/snake-case.ts';
import { RecordPublisher } from '../../src/kafka/record-publisher.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { startGateway } from '../../src/roles/gateway.ts';
import { startMemoryGuard } from '../../src/roles/memory-guard.ts';
import type { Component } from '../../src/roles/services.ts';
import { Tunables } from '../../src/tunables/tunables.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { TRANSPORT_WS } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

const TOPIC = 'auctions';
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

const PEOPLE = [
  { user: 'alice', tenant: 'acme' },
  { user: 'alice', tenant: 'acme' },
  { user: 'bob', tenant: 'acme' },
];
const OPERATIONS = {
  plain:
    'subscription { auction(id: 1) { id title price days_on_market tags matrix current_bid { amount bidder_name } } }',
  same: 'subscription { any { title price id current_bid { amount } } }',
  user: 'subscription { any { id whose late fails_for_bob } }',
  tenant: 'subscription { any { title tenant { name title_length } fails tags } }',
};
const RESUMED = 'subscription { auction(id: 1) { days_on_market late title } }';

const OFF = ['on', 'off'].flatMap((SHARING) =>
  ['on', 'off'].flatMap((PROJECTION) =>
    ['on', 'off'].map((WRITE_BATCHING) => ({ SHARING, PROJECTION, WRITE_BATCHING })),
  ),
);
/** The first is the reference: all techniques on. */
const SETTINGS: readonly Readonly<Record<string, string>>[] = [
  ...OFF,
  { KEY_REWRITER: 'off' },
  { AST_LOCATIONS: 'on' },
  { DOCUMENT_CACHE_ENTRIES: '0', INVALID_DOCUMENT_CACHE_ENTRIES: '0' },
  { JIT_AFTER_USES: '0' },
  { JIT_AFTER_USES: '1' },
  { JIT_AFTER_USES: '1', PROJECTION: 'off' },
  {
    SHARING: 'off',
    PROJECTION: 'off',
    WRITE_BATCHING: 'off',
    KEY_REWRITER: 'off',
    AST_LOCATIONS: 'on',
    DOCUMENT_CACHE_ENTRIES: '0',
    JIT_AFTER_USES: '1',
  },
];

/** A client that keeps the text of each message, by operation. */
class Client {
  readonly #socket: WebSocket;
  readonly #texts = new Map<string, string[]>();

  constructor(t: TestContext, port: number) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, TRANSPORT_WS);
    this.#socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const { id = 'connection' } = JSON.parse(text) as { id?: string };
      this.#texts.set(id, [...(this.#texts.get(id) ?? []), text]);
    });
    t.after(() => this.#socket.terminate());
  }

  async init(params: object): Promise<void> {
    await once(this.#socket, 'open');
    this.#send({ type: 'connection_init', payload: params });
    await this.take('connection', 1);
  }

  subscribe(id: string, query: string, extensions?: object): void {
    this.#send({ id, type: 'subscribe', payload: { query, extensions } });
  }

  complete(id: string): void {
    this.#send({ id, type: 'complete' });
  }

  /** Resolves when the server has handled every message that was sent before; a document may still wait. */
  async settle(): Promise<void> {
    this.#send({ type: 'ping' });
    await this.take('connection', 1);
  }

  /** Takes the next `count` messages of one operation. */
  async take(id: string, count: number): Promise<string[]> {
    const texts = () => this.#texts.get(id) ?? [];
    await waitFor(`${count} messages of ${id}`, () => texts().length >= count);
    return texts().splice(0, count);
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}

/** One crier with a worker's conversion in front of it and the clients of `PEOPLE`. */
class Stage {
  readonly port: number;
  readonly clients: readonly Client[];
  readonly #metrics: Metrics;
  readonly #publisher: RecordPublisher;
  #offset = 0;

  private constructor(port: number, clients: readonly Client[], metrics: Metrics, publisher: RecordPublisher) {
    this.port = port;
    this.clients = clients;
    this.#metrics = metrics;
    this.#publisher = publisher;
  }

  static async start(t: TestContext, folder: string, settings: Readonly<Record<string, string>>): Promise<Stage> {
    const log = createLog('silent');
    const graph = await loadGraph(folder);
    const config = readConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      CURSOR_SECRET: 's'.repeat(32),
      SHARING_AUDIT: '0',
      ...settings,
    });
    const bus = new MemoryBus({ prefix: config.CHANNEL_PREFIX, log });
    await bus.start();
    await bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
    const components: Component[] = [];
    const register = <T extends Component>(component: T) => {
      components.unshift(component);
      return component;
    };
    const metrics = new Metrics();
    const tunables = new Tunables({ config, log });
    const port = await startGateway({
      config,
      tunables,
      graph,
      bus,
      log,
      metrics,
      memory: startMemoryGuard({ config, tunables, log, metrics, register }),
      isLoopLate: () => false,
      details: {},
      register,
      unreadyWhile: () => undefined,
      draining: new AbortController().signal,
      routes: new Map(),
      hurry: new AbortController().signal,
    });
    t.after(async () => {
      for (const component of components) await component.close();
      await bus.close();
    });
    const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
    const routers = createRouters([...graph.bindings.values()], config.CHANNEL_PREFIX);
    const converter = new Converter(routers, limits, new SnakeCase(), {
      hasRewriter: config.KEY_REWRITER,
      keyPlaces: keyPlaces(graph.bindings.values(), graph.shapes),
    });
    const publisher = new RecordPublisher(
      {
        flow: { room: () => Promise.resolve(1_000_000) },
        convert: (record) => converter.convert(record),
        publish: (messages, upTo) => bus.publish(messages, upTo),
        deadLetter: () => assert.fail('poison'),
      },
      { onConsumed: () => undefined, onPublished: () => undefined, onPoison: () => undefined },
      log,
    );
    const clients = PEOPLE.map(() => new Client(t, port));
    await Promise.all(clients.map((client, i) => client.init({ claims: PEOPLE[i] })));
    return new Stage(port, clients, metrics, publisher);
  }

  /** Publishes records in one batch. */
  async publish(records: readonly object[]): Promise<void> {
    const batch = records.map((record) => ({
      topic: TOPIC,
      partition: 0,
      offset: String(this.#offset++),
      timestamp: '0',
      key: null,
      value: Buffer.from(JSON.stringify(record)),
    }));
    await this.#publisher.publish(batch);
  }

  /** Resolves when all operations that the clients sent are live. */
  async settle(): Promise<void> {
    for (const client of this.clients) await client.settle();
    await waitFor('all documents', async () => (await this.#metric('crier_documents_waiting')) === 0);
    for (const client of this.clients) await client.settle();
  }

  executions(): Promise<number> {
    return this.#metric('crier_executions_total');
  }

  async #metric(name: string): Promise<number> {
    const { values } = await this.#metrics.registry.getSingleMetric(name)!.get();
    return values[0]!.value;
  }
}

/** A masked error has a random id. Documents without locations give errors without them. */
function comparable(texts: readonly string[]): string[] {
  return texts.map((text) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      .replaceAll(/"locations":\[\{"line":1,"column":\d+\}\],/g, ''),
  );
}

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
  await stage.publish(records.map((auction) => ({ auction })));
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
    for (const [i, { SHARING }] of SETTINGS.entries()) {
      if (SHARING === 'off') assert.ok(executions[i]! >= events * PEOPLE.length * 3, `${executions[i]} executions`);
      else assert.ok(executions[i]! < executions[OFF.findIndex((off) => off.SHARING === 'off')]!);
    }
  });

  it('names the locations of errors with AST_LOCATIONS=on only', async (t) => {
    const folder = await graphFolder(t, GRAPH);
    for (const AST_LOCATIONS of ['off', 'on']) {
      const stage = await Stage.start(t, folder, { AST_LOCATIONS });
      const [client] = stage.clients;
      client!.subscribe('fails', 'subscription { any {\n  fails } }');
      await stage.settle();
      await stage.publish([{ auction: { id: 1, daysOnMarket: 5 } }]);
      const [text] = await client!.take('fails', 1);
      assert.equal(text!.includes('"locations":[{"line":2,"column":3}]'), AST_LOCATIONS === 'on', text);
    }
  });

  it('makes one write of each message to a socket with WRITE_BATCHING=off, of all messages of a turn with on', async (t) => {
    const folder = await graphFolder(t, GRAPH);
    for (const WRITE_BATCHING of ['on', 'off']) {
      const stage = await Stage.start(t, folder, { WRITE_BATCHING });
      const [client] = stage.clients;
      client!.subscribe('same', OPERATIONS.same);
      await stage.settle();
      const writes = countWrites(t, stage.port);
      await stage.publish(Array.from({ length: 20 }, (_, i) => ({ auction: { id: 1, price: i } })));
      await client!.take('same', 20);
      const count = writes();
      if (WRITE_BATCHING === 'off') assert.equal(count, 20);
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
