import { createClient as createStockClient } from 'graphql-ws';
import type { Client, ClientOptions } from 'graphql-ws';
import { WebSocket } from 'ws';
import { createClient } from '../../client/client.ts';
import type { EventExtensions } from '../../client/client.ts';
import { ENTRY_SELECTION, entryOf } from '../support/entry-record.ts';
import { audit, summaryOf } from '../support/ledger.ts';
import type { Entry } from '../support/ledger.ts';
import type { Scope } from '../support/socket.ts';

const QUERY = `subscription Entries($lane: ID!) { event: entry_written(lane: $lane) { ${ENTRY_SELECTION} } }`;

export interface Heard {
  readonly entry: Entry;
  readonly extensions: EventExtensions | undefined;
}

export interface ListenerOptions {
  /** stock: graphql-ws's client with default settings. helper: @crier/client. */
  readonly kind: 'stock' | 'helper';
  readonly url: string;
  readonly lanes: readonly string[];
  readonly client?: Partial<ClientOptions>;
}

/** A client that reconnects by itself, with one subscription per lane. */
export class Listener {
  readonly lanes: readonly string[];
  /** In the order of arrival. */
  readonly heard: Heard[] = [];
  /** Results with errors, and errors that ended a subscription. */
  readonly failures: string[] = [];
  /** Time from each close to the next connection_ack, in ms. */
  readonly absencesMs: number[] = [];
  isConnected = false;
  #closedAt = 0;

  constructor(scope: Scope, { kind, url, lanes, client: options }: ListenerOptions) {
    this.lanes = lanes;
    const client: Client = (kind === 'stock' ? createStockClient : createClient)({
      url,
      webSocketImpl: WebSocket,
      ...options,
      connectionParams: {},
      on: {
        connected: () => {
          this.isConnected = true;
          if (this.#closedAt > 0) this.absencesMs.push(performance.now() - this.#closedAt);
        },
        closed: () => {
          if (this.isConnected) this.#closedAt = performance.now();
          this.isConnected = false;
        },
      },
    });
    scope.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
    for (const lane of lanes) {
      client.subscribe<Record<string, unknown>, EventExtensions>(
        { query: QUERY, variables: { lane } },
        {
          next: ({ data, errors, extensions }) => {
            if (errors || !data) this.failures.push(JSON.stringify(errors));
            else this.heard.push({ entry: entryOf(data), extensions });
          },
          error: (error) => this.failures.push(`${String(error)} ${JSON.stringify(error)}`),
          complete: () => this.failures.push('complete'),
        },
      );
    }
  }

  /** Number of subscriptions that were resumed, or not, after a reconnect. */
  resumed(isResumed: boolean): number {
    return this.heard.filter(({ extensions }) => extensions?.resumed === isResumed).length;
  }

  /** Number of events that follow a gap in their lane without reporting it. */
  get silentLosses(): number {
    const latest = new Map<string, number>();
    let count = 0;
    for (const { entry, extensions } of this.heard) {
      const { lane, sequence } = entry;
      if (sequence > (latest.get(lane) ?? Infinity) + 1 && !extensions?.gap) count++;
      latest.set(lane, sequence);
    }
    return count;
  }

  /** Faults among the records written in its lanes after the first one received of each. '': none. */
  shortcomings(written: readonly Entry[]): string {
    const first = new Map<string, number>();
    for (const { entry } of this.heard) if (!first.has(entry.lane)) first.set(entry.lane, entry.sequence);
    const due = written.filter(({ lane, sequence }) => sequence >= (first.get(lane) ?? Infinity));
    const received = this.heard.map(({ entry }) => entry);
    const silent = this.lanes.filter((lane) => !first.has(lane)).map((lane) => `nothing of lane ${lane}`);
    return [summaryOf(audit(due, received)), ...silent, ...this.failures].filter((text) => text !== '').join('; ');
  }
}
