import type { Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createClient } from '../../client/client.ts';
import type { ClientOptions, EventExtensions } from '../../client/client.ts';
import type { Scope } from '../support/socket.ts';
import { TICKS } from './stage.ts';

/** A client over `ws`, disposed at the end of the test. It waits 5 ms before a retry. */
export function helperClient(scope: Scope, options: ClientOptions): Client {
  const client = createClient({
    webSocketImpl: WebSocket,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 5)),
    ...options,
  });
  scope.after(() => void client.dispose());
  return client;
}

/** What a subscription to ticks received. */
export class Received {
  readonly numbers: number[] = [];
  readonly extensions: (EventExtensions | undefined)[] = [];
  /** Sink calls of `error` and `complete`. */
  readonly endings: unknown[] = [];
  readonly leave: () => void;

  constructor(client: Client, query = TICKS) {
    this.leave = client.subscribe<{ tick: { n: number } }, EventExtensions>(
      { query },
      {
        next: ({ data, extensions }) => {
          this.numbers.push(data!.tick.n);
          this.extensions.push(extensions);
        },
        error: (problem) => this.endings.push(problem),
        complete: () => this.endings.push('complete'),
      },
    );
  }

  /** `resumed` of each event that has it. */
  get resumed(): boolean[] {
    return this.extensions.flatMap((extensions) => extensions?.resumed ?? []);
  }
}
