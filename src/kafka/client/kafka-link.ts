import type { KafkaClient } from './kafka-client.ts';

interface Connectable {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

interface Connection<Endpoint> {
  readonly client: KafkaClient;
  readonly endpoint: Endpoint;
  readonly connected: Promise<void>;
  /** Running uses. */
  uses: number;
}

export interface KafkaLinkOptions<Endpoint> {
  readonly createClient: () => KafkaClient;
  readonly createEndpoint: (client: KafkaClient) => Endpoint;
  /** Longest use, including the time to connect. After it the sockets are destroyed, and all running uses fail. */
  readonly timeoutMs: number;
}

/** An admin or a producer that connects at its first use, and again after a use that failed. Uses that were running then go on. */
export class KafkaLink<Endpoint extends Connectable> {
  readonly #options: KafkaLinkOptions<Endpoint>;
  #connection: Connection<Endpoint> | undefined;
  #isClosed = false;

  constructor(options: KafkaLinkOptions<Endpoint>) {
    this.#options = options;
  }

  /** @throws the error of `task`, or of the connection */
  async use<Result>(task: (endpoint: Endpoint) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new Error('the Kafka connection was closed');
    const connection = (this.#connection ??= this.#connect());
    connection.uses++;
    const timer = setTimeout(() => connection.client.destroy(), this.#options.timeoutMs);
    try {
      await connection.connected;
      return await task(connection.endpoint);
    } catch (error) {
      // Its metadata may be stale and its sockets half-open: the next use connects again.
      if (this.#connection === connection) this.#connection = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      connection.uses--;
      if (connection.uses === 0 && this.#connection !== connection) connection.client.destroy();
    }
  }

  /** Ends the connection once its running uses have ended. Idempotent. */
  retire(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection?.uses === 0) connection.client.destroy();
  }

  /** Waits for running uses, for at most `timeoutMs`. Idempotent. */
  async close(): Promise<void> {
    const connection = this.#detach();
    if (!connection) return;
    const timer = setTimeout(() => connection.client.destroy(), this.#options.timeoutMs);
    await connection.endpoint.disconnect().catch(() => undefined);
    clearTimeout(timer);
    connection.client.destroy();
  }

  /** Aborts running uses. Idempotent. */
  destroy(): void {
    this.#detach()?.client.destroy();
  }

  #detach(): Connection<Endpoint> | undefined {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    return connection;
  }

  #connect(): Connection<Endpoint> {
    const client = this.#options.createClient();
    const endpoint = this.#options.createEndpoint(client);
    return { client, endpoint, connected: endpoint.connect(), uses: 0 };
  }
}
