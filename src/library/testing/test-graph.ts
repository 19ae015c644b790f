import type { FormattedExecutionResult } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { NewRecord } from '../../graph/context/publishing.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { openServer } from '../create-server.ts';
import type { ServerOptions } from '../create-server.ts';
import { PublishedRecords } from '../../server/published-records.ts';
import { explainChoice } from './chosen-records.ts';
import { TestConnection } from './test-connection.ts';
import { TestEvents } from './test-events.ts';

/** The options of `createServer`. Defaults differ: free ports on loopback, `logLevel: 'fatal'`. */
export interface TestGraphOptions extends Omit<ServerOptions, 'graph' | 'kafkaBrokers' | 'redisUrl'> {
  /** Longest wait for an event, in ms. Default: 5000. */
  readonly patienceMs?: number;
}

export interface RequestOptions {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SubscribeOptions extends RequestOptions {
  /** Payload of `connection_init`. */
  readonly connectionParams?: Readonly<Record<string, unknown>>;
}

const PATIENCE_MS = 5000;

/**
 * Starts a graph without Kafka and Redis, and without its sample records: the records are those that the test publishes. Sample answers of
 * backends are used for backends without a URL.
 * @param graph a folder, or what `defineGraph` returns
 * @throws GraphError with every mistake of the graph
 */
export async function startGraph(graph: string | Graph, options: TestGraphOptions = {}): Promise<TestGraph> {
  const { patienceMs = PATIENCE_MS, ...settings } = options;
  const defaults = { host: '127.0.0.1', port: 0, logLevel: 'fatal', drainDelayMs: 0, drainSpreadMs: 0 } as const;
  const published = new PublishedRecords();
  const server = await openServer({ ...defaults, ...settings, graph }, withoutSampleRecords, ['patienceMs'], (record) =>
    published.add(record),
  );
  return new TestGraph(server, patienceMs, published);
}

function withoutSampleRecords(graph: Graph): Graph {
  return { ...graph, samples: graph.samples && { ...graph.samples, records: () => [] } };
}

/** A graph that runs in this process. */
export class TestGraph {
  readonly #server: Awaited<ReturnType<typeof openServer>>;
  readonly #patienceMs: number;
  readonly #connections = new Set<TestConnection>();
  readonly #published: PublishedRecords;

  constructor(server: Awaited<ReturnType<typeof openServer>>, patienceMs: number, published: PublishedRecords) {
    this.#server = server;
    this.#published = published;
    this.#patienceMs = patienceMs;
  }

  /** `http://127.0.0.1:port/graphql`, for clients of your own. */
  get url(): string {
    return this.#server.url!;
  }

  /**
   * Takes a record into a topic. Resolves when its events are published.
   * @throws TypeError for a topic that no field of the graph reads, and for a value of which it makes no payload
   */
  async publish(topic: string, value: NewRecord['value'], record: Omit<NewRecord, 'value'> = {}): Promise<void> {
    await this.#server.publish(topic, { ...record, value });
  }

  /**
   * Resolves when the subscription is live. Each has a connection of its own.
   * @throws Error if the server refuses the connection or the subscription, with its reason
   */
  async subscribe(query: string, options: SubscribeOptions = {}): Promise<TestEvents> {
    const { variables, headers = {}, connectionParams } = options;
    const payload = { query, ...(variables && { variables }) };
    const events = new TestEvents(
      this.#patienceMs,
      () => this.#silence(payload),
      () => connection.close(),
    );
    const connection = new TestConnection(this.#server.webSocketUrl!, headers, events);
    this.#connections.add(connection);
    await connection.subscribe(payload, connectionParams, () => this.#server.settled());
    if (events.failure) throw new Error(events.failure.message);
    return events;
  }

  /** Resolves with the result of a query or mutation. */
  async query(query: string, { variables, headers = {} }: RequestOptions = {}): Promise<FormattedExecutionResult> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as FormattedExecutionResult;
  }

  /** Ends the subscriptions and the server. Idempotent. */
  async close(): Promise<void> {
    for (const connection of this.#connections) connection.close();
    await this.#server.close();
  }

  /** Why no event may have come. */
  async #silence(payload: SubscribePayload): Promise<string> {
    const { topics } = this.#published;
    if (topics.size === 0) return ': no record was published';
    const published = Array.from(topics, ([topic, { length }]) => `${topic} (${length})`).join(', ');
    const metrics = await (await fetch(`${this.#server.adminUrl}/metrics`)).text();
    const unmatched = [
      ...metrics.matchAll(/^crier_records_unmatched_total\{field="(.*?)",reason="(.*?)"\} ([1-9]\d*)/gm),
    ];
    const reasons = unmatched.map(([, field, reason, count]) => `; ${count} did not match ${field}: ${reason}`);
    const choice = await explainChoice(this.#server, payload, this.#published);
    return `: records were published to ${published}${reasons.join('')}${choice}`;
  }
}
