import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { EventExtensions } from '../../client/client.ts';
import { entryOf } from './entry-record.ts';
import type { Entry } from './ledger.ts';
import type { Scope } from './socket.ts';

/** Sequences of the marks around the ledger: `start` until every path is known to be open, `end` behind the last entry. */
export const MARK = { start: -1, end: 2 ** 31 - 1 } as const;

/** What a subscriber asks for. */
export interface Asked {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A stock graphql-ws client with one subscription, which keeps what it receives and never retries. */
export class Subscriber<Interest extends Asked = Asked> {
  readonly interest: Interest;
  readonly received: Entry[] = [];
  /** Lanes whose `start` mark arrived. */
  readonly started = new Set<string>();
  /** Lanes whose `end` mark arrived. */
  readonly finished = new Set<string>();
  /** Results with errors and whatever ended the subscription. */
  readonly failures: string[] = [];
  /** Events with `gap: true`. */
  gaps = 0;
  /** Close code of the socket, once it is closed. */
  closeCode: number | undefined;
  readonly #onEntry: (entry: Entry) => void;

  /** `onEntry`: is told of each entry that is no mark. */
  constructor(scope: Scope, url: string, interest: Interest, onEntry: (entry: Entry) => void = () => undefined) {
    this.interest = interest;
    this.#onEntry = onEntry;
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      on: { closed: (event) => (this.closeCode = (event as { code: number }).code) },
    });
    scope.after(() => client.dispose());
    client.subscribe<Record<string, unknown>, EventExtensions>(
      { query: interest.query, variables: interest.variables },
      {
        next: ({ data, errors, extensions }) => {
          if (extensions?.gap) this.gaps++;
          if (errors || !data) this.failures.push(JSON.stringify(errors));
          else this.#keep(entryOf(data));
        },
        error: (error) => this.failures.push(JSON.stringify(error)),
        complete: () => this.failures.push('complete'),
      },
    );
  }

  #keep(entry: Entry): void {
    if (entry.sequence === MARK.start) this.started.add(entry.lane);
    else if (entry.sequence === MARK.end) this.finished.add(entry.lane);
    else {
      this.received.push(entry);
      this.#onEntry(entry);
    }
  }
}
