import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { partsDemands } from '../../src/graph/parts-demands.ts';
import { PartsPrinter } from '../../src/graph/parts-printer.ts';
import { createRouters } from '../../src/graph/router.ts';
import { keyPlaces } from '../../src/graph/schema/key-places.ts';
import { Converter } from '../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../src/kafka/decoding/snake-case.ts';
import { RecordPublisher } from '../../src/kafka/record-publisher.ts';
import { createLog } from '../../src/base/log.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { OperationTallies } from '../../src/graph/documents/operation-tallies.ts';
import { startGateway } from '../../src/server/gateway-stage.ts';
import { startMemoryGuard } from '../../src/server/memory-guard-stage.ts';
import type { Component } from '../../src/server/services.ts';
import { Versioned } from '../../src/server/versioned.ts';
import { Tunables } from '../../src/ops/tunables/tunables.ts';
import { limitedConfig } from '../support/switches.ts';
import { TRANSPORT_WS } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

/** The topic of every graph here. */
export const TOPIC = 'auctions';

export const PEOPLE = [
  { user: 'alice', tenant: 'acme' },
  { user: 'alice', tenant: 'acme' },
  { user: 'bob', tenant: 'acme' },
];

export const OFF = ['', 'sharing'].flatMap((sharing) =>
  ['', 'projection'].flatMap((projection) =>
    ['', 'write-batching'].map((batching) => ({ DISABLE: `${sharing},${projection},${batching}` })),
  ),
);
/** The first is the reference: all techniques on. */
export const SETTINGS: readonly Readonly<Record<string, string>>[] = [
  ...OFF,
  { DISABLE: 'key-rewriter' },
  { DISABLE: 'compact-ast' },
  { DISABLE: 'document-cache' },
  { DISABLE: 'jit' },
  { JIT_AFTER_USES: '1' },
  { JIT_AFTER_USES: '1', DISABLE: 'projection' },
  { COMPRESSION: 'on', COMPRESSION_MIN_BYTES: '1' },
  { COMPRESSION: 'on', COMPRESSION_MIN_BYTES: '60' },
  { COMPRESSION: 'on', COMPRESSION_MIN_BYTES: '1', DISABLE: 'sharing,write-batching' },
  {
    DISABLE: 'sharing,projection,write-batching,key-rewriter,compact-ast,document-cache',
    JIT_AFTER_USES: '1',
  },
];

/** A client that keeps the text of each message, by operation. */
export class Client {
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

  get isCompressed(): boolean {
    return this.#socket.extensions === 'permessage-deflate';
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

/** A record, or a tombstone of its key. */
export interface TestRecord {
  readonly value: object | null;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One crier with a worker's conversion in front of it and the clients of `PEOPLE`. */
export class Stage {
  readonly port: number;
  readonly clients: readonly Client[];
  readonly #bus: MemoryBus;
  readonly #metrics: Metrics;
  readonly #publisher: RecordPublisher;
  #offset = 0;

  private constructor(
    bus: MemoryBus,
    port: number,
    clients: readonly Client[],
    metrics: Metrics,
    publisher: RecordPublisher,
  ) {
    this.port = port;
    this.clients = clients;
    this.#bus = bus;
    this.#metrics = metrics;
    this.#publisher = publisher;
  }

  static async start(t: TestContext, folder: string, settings: Readonly<Record<string, string>>): Promise<Stage> {
    const log = createLog('silent');
    const graph = await loadGraph(folder);
    const config = limitedConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      SHARING_AUDIT: '0',
      ...settings,
    });
    const bus = new MemoryBus({ prefix: config.CHANNEL_PREFIX, log });
    await bus.start();
    // Cursors of two stages are equal.
    await bus.agree('cursor-secret', 's'.repeat(32));
    await bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
    const components: Component[] = [];
    const register = <T extends Component>(component: T) => {
      components.unshift(component);
      return component;
    };
    const metrics = new Metrics();
    const tunables = new Tunables({ config, log });
    const { port = 0 } = await startGateway({
      config,
      tunables,
      graph: new Versioned(graph),
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
      live: { routes: new Map(), close: () => Promise.resolve() },
      tallies: new OperationTallies(),
      fastShutdown: new AbortController().signal,
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
    const demand = partsDemands(graph.bindings.values()).get(TOPIC);
    const printer = demand && new PartsPrinter(demand);
    const publisher = new RecordPublisher(
      {
        flow: { room: () => 1_000_000, whenRoom: () => Promise.resolve(1_000_000) },
        convert: (record) => converter.convert(record),
        printParts: printer && ((record) => printer.print(record)),
        publish: (messages, upTo) => bus.publish(messages, upTo),
        deadLetter: () => assert.fail('poison'),
      },
      { onConsumed: () => undefined, onPublished: () => undefined, onPoison: () => undefined },
      log,
    );
    const clients = PEOPLE.map(() => new Client(t, port));
    await Promise.all(clients.map((client, i) => client.init({ claims: PEOPLE[i] })));
    return new Stage(bus, port, clients, metrics, publisher);
  }

  /** Publishes records in one batch. */
  async publish(records: readonly TestRecord[]): Promise<void> {
    const batch = records.map(({ value, key, headers }) => ({
      topic: TOPIC,
      partition: 0,
      offset: this.#offset++,
      timestamp: 0,
      key: key === undefined ? null : Buffer.from(key),
      value: value && Buffer.from(JSON.stringify(value)),
      headers,
    }));
    await this.#publisher.publish(batch);
  }

  /** Sends a message on a plain channel. */
  send(channel: string, message: object): Promise<void> {
    return this.#bus.send(channel, JSON.stringify(message));
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

  /** Bytes of the results that were compressed. */
  compressedBytes(): Promise<number> {
    return this.#metric('crier_compression_input_bytes_total');
  }

  async #metric(name: string): Promise<number> {
    const { values } = await this.#metrics.registry.getSingleMetric(name)!.get();
    return values[0]!.value;
  }
}

/** A masked error has a random id. Documents without locations give errors without them. */
export function comparable(texts: readonly string[]): string[] {
  return texts.map((text) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      .replaceAll(/"locations":\[\{"line":1,"column":\d+\}\],/g, ''),
  );
}
