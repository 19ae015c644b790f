import { setTimeout as delay } from 'node:timers/promises';
import { channelName } from '../../src/bus/channel.ts';
import type { HistoryLimits } from '../../src/bus/history.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError, FencedError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { createEntry } from '../support/ledger.ts';
import type { Entry } from '../support/ledger.ts';
import type { Scope } from '../support/socket.ts';

const TICK_MS = 10;
const RETRY_MS = 50;

export interface LedgerPublisherOptions {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly topic: string;
  readonly lanes: readonly string[];
  readonly history: HistoryLimits;
}

/**
 * Publishes the ledger like a worker with one partition: in order, fenced, one publish at a time, repeated until Redis accepts it. A lane
 * is a key with its own channel.
 */
export class LedgerPublisher {
  /** Entries in order. Redis has accepted them, or will. */
  readonly written: Entry[] = [];
  readonly #options: LedgerPublisherOptions;
  readonly #bus: RedisBus;
  readonly #place: { readonly topic: string; readonly partition: number };
  #isClosed = false;
  #accepted = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: LedgerPublisherOptions) {
    this.#options = options;
    this.#place = { topic: options.topic, partition: 0 };
    const { redisUrl, prefix } = options;
    this.#bus = new RedisBus({ url: redisUrl, prefix, log: createLog('silent') });
  }

  static async start(scope: Scope, options: LedgerPublisherOptions): Promise<LedgerPublisher> {
    const publisher = new LedgerPublisher(options);
    scope.after(async () => {
      publisher.stop();
      publisher.#isClosed = true;
      await publisher.#bus.close();
    });
    await publisher.#bus.start();
    await publisher.#acquire();
    void publisher.#publishAll();
    return publisher;
  }

  get isIdle(): boolean {
    return this.#accepted === this.written.length;
  }

  /** Publishes one entry per lane. */
  round(): void {
    for (let i = 0; i < this.#options.lanes.length; i++) this.#writeNext();
  }

  begin(entriesPerSecond: number): void {
    const startedAt = performance.now();
    let count = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * entriesPerSecond);
      for (; count < due; count++) this.#writeNext();
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #writeNext(): void {
    const { lanes } = this.#options;
    const { length } = this.written;
    const sequence = Math.floor(length / lanes.length) + 1;
    this.written.push(
      createEntry(lanes[length % lanes.length]!, sequence, `${length} é 😀 ${'x'.repeat(length % 50)}`),
    );
  }

  async #acquire(): Promise<void> {
    for (;;) {
      try {
        await this.#bus.acquire({ ...this.#place, position: this.#accepted - 1 });
        return;
      } catch (error) {
        if (this.#isClosed) return;
        if (!(error instanceof BusUnavailableError)) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  async #publishAll(): Promise<void> {
    while (!this.#isClosed) {
      const { length } = this.written;
      if (length === this.#accepted) {
        await delay(TICK_MS);
        continue;
      }
      const messages = this.written.slice(this.#accepted, length).map((entry, i) => this.#messageOf(entry, i));
      try {
        await this.#bus.publish(messages, { ...this.#place, offset: length - 1 });
        this.#accepted = length;
      } catch (error) {
        if (error instanceof FencedError) await this.#acquire();
        else if (error instanceof BusUnavailableError) await delay(RETRY_MS);
        else throw error;
      }
    }
  }

  #messageOf({ lane, sequence, content, writtenAt, digest }: Entry, i: number) {
    const { prefix, topic, history } = this.#options;
    const entry = {
      lane_name: lane,
      sequence_number: sequence,
      content_text: content,
      written_at: writtenAt,
      content_digest: digest,
    };
    return {
      channel: channelName(prefix, topic, [{ path: 'lane', value: lane }]),
      payload: JSON.stringify({ lane, ledger_entry: entry }),
      offset: this.#accepted + i,
      timestamp: writtenAt,
      history,
    };
  }
}
