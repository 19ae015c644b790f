import { createClient } from 'graphql-ws';
import type { Client, ClientOptions, FormattedExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Scope } from './socket.ts';
import { waitFor } from './wait-for.ts';

export type Data = Readonly<Record<string, unknown>>;

/** One subscription of a stock graphql-ws client with a connection of its own; it never retries. */
export class Watch {
  /** `data` of each result without errors. */
  readonly events: Data[] = [];
  /** Results with errors, and whatever ended the subscription. */
  readonly failures: string[] = [];
  /** Close code of the socket, once it is closed. */
  closeCode: number | undefined;
  readonly #client: Client;

  constructor(url: string, query: string, variables?: Data, options: Partial<ClientOptions> = {}) {
    this.#client = createClient({
      url,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      on: { closed: (event) => (this.closeCode = (event as { code: number }).code) },
      ...options,
    });
    this.#client.subscribe(
      { query, ...(variables && { variables }) },
      {
        next: (result) => this.#keep(result),
        error: (error) => this.failures.push(error instanceof Error ? String(error) : JSON.stringify(error)),
        complete: () => this.failures.push('complete'),
      },
    );
  }

  /** The `count`th event. @param silenceMs longest wait for each event @throws Error when something fails first. */
  async event(count = 1, silenceMs?: number): Promise<Data> {
    while (this.events.length < count && this.failures.length === 0) {
      const next = this.events.length + 1;
      await waitFor(`event ${next}`, () => this.events.length >= next || this.failures.length > 0, silenceMs);
    }
    if (this.events.length < count) throw new Error(this.failures[0]);
    return this.events[count - 1]!;
  }

  /** The close code of the socket, once it is closed. */
  closed(): Promise<number> {
    return waitFor('the close', () => this.closeCode);
  }

  close(): void | Promise<void> {
    return this.#client.dispose();
  }

  #keep({ data, errors }: FormattedExecutionResult<Record<string, unknown>, unknown>): void {
    if (errors || !data) this.failures.push(JSON.stringify(errors));
    else this.events.push(data);
  }
}

/** Subscribes; ends with the test. */
export function watch(scope: Scope, ...parameters: ConstructorParameters<typeof Watch>): Watch {
  const started = new Watch(...parameters);
  scope.after(() => started.close());
  return started;
}
