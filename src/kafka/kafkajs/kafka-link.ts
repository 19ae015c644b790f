import type { Kafka } from 'kafkajs';
import type { KafkaClient } from './client.ts';

interface Connectable {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

interface Connection<Part> {
  readonly client: KafkaClient;
  readonly part: Part;
  readonly connected: Promise<void>;
}

export interface KafkaLinkOptions<Part> {
  readonly createClient: () => KafkaClient;
  readonly createPart: (kafka: Kafka) => Part;
  /** Longest use, the connecting included; then its sockets are cut and it fails. */
  readonly timeoutMs: number;
}

/** An admin or a producer that connects when it is first used, and anew after a use that failed. */
export class KafkaLink<Part extends Connectable> {
  readonly #options: KafkaLinkOptions<Part>;
  #connection: Connection<Part> | undefined;
  #isClosed = false;

  constructor(options: KafkaLinkOptions<Part>) {
    this.#options = options;
  }

  /** @throws what `task` throws, or why there is no connection. */
  async use<Answer>(task: (part: Part) => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw new Error('the Kafka connection was closed');
    const connection = (this.#connection ??= this.#connect());
    const timer = setTimeout(() => connection.client.destroy(), this.#options.timeoutMs);
    try {
      await connection.connected;
      return await task(connection.part);
    } catch (error) {
      // Its metadata may be stale, its sockets half-open: the next use starts afresh.
      connection.client.destroy();
      if (this.#connection === connection) this.#connection = undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets what is under way end, for at most `timeoutMs`. Idempotent. */
  async close(): Promise<void> {
    const connection = this.#detach();
    if (!connection) return;
    const timer = setTimeout(() => connection.client.destroy(), this.#options.timeoutMs);
    await connection.part.disconnect().catch(() => undefined);
    clearTimeout(timer);
    connection.client.destroy();
  }

  /** Cuts what is under way. Idempotent. */
  destroy(): void {
    this.#detach()?.client.destroy();
  }

  #detach(): Connection<Part> | undefined {
    this.#isClosed = true;
    const connection = this.#connection;
    this.#connection = undefined;
    return connection;
  }

  #connect(): Connection<Part> {
    const client = this.#options.createClient();
    const part = this.#options.createPart(client.kafka);
    return { client, part, connected: part.connect() };
  }
}
