import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { recordedEntry } from '../support/entry-record.ts';
import { createEntry } from '../support/ledger.ts';
import type { Entry } from '../support/ledger.ts';
import type { Scope } from '../support/socket.ts';

const TICK_MS = 20;

export interface LedgerStreamOptions {
  /** `host:port`, comma-separated. */
  readonly brokers: string;
  readonly topic: string;
  /** A lane is a partition, and called by its number. */
  readonly partitions: number;
  /** Those that are written to; not given: all. */
  readonly lanes?: readonly string[];
  /** Over all lanes. */
  readonly recordsPerSecond: number;
  /** After so many it ends by itself; not given: it goes on until `stop`. */
  readonly records?: number;
  /** Characters of an entry, about; not given: up to 300. */
  readonly contentLength?: number;
}

/**
 * Writes the ledger at a steady rate, one kcat for each partition: idempotent, and patient for ever, so that every record is in Kafka once
 * and in order, whatever happens to the brokers meanwhile.
 */
export class LedgerStream {
  /** In the order of their lanes. */
  readonly written: Entry[] = [];
  readonly lanes: readonly string[];
  readonly #options: LedgerStreamOptions;
  readonly #writers: readonly LaneWriter[];
  #timer: NodeJS.Timeout | undefined;

  constructor(scope: Scope, options: LedgerStreamOptions) {
    this.#options = options;
    this.lanes = options.lanes ?? Array.from({ length: options.partitions }, (_, partition) => `${partition}`);
    this.#writers = this.lanes.map((lane) => new LaneWriter(options, lane));
    scope.after(() => {
      clearInterval(this.#timer);
      for (const writer of this.#writers) writer.kill();
    });
  }

  /** One mark in every lane. */
  mark(sequence: number): void {
    for (const writer of this.#writers) writer.write(createEntry(writer.lane, sequence, 'mark'));
  }

  /** What was written is on its way, also when nothing follows for a while. To be followed by something at last. */
  flush(): void {
    for (const writer of this.#writers) writer.flush();
  }

  start(): void {
    const { recordsPerSecond, records = Infinity } = this.#options;
    let startedAt = performance.now();
    let count = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * recordsPerSecond);
      // What was missed by a process without a turn is not made up for in one heap.
      if (due - count > recordsPerSecond) {
        startedAt = performance.now();
        count = 0;
        return;
      }
      for (; count < due && this.written.length < records; count++) this.#writeNext();
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves when Kafka has acknowledged all of it. @throws Error with what kcat said when it has not. */
  async end(): Promise<void> {
    this.stop();
    await Promise.all(this.#writers.map((writer) => writer.end()));
  }

  /** What the writers say of themselves. */
  get log(): string {
    return this.#writers.map(({ lane, log }) => `kcat for partition ${lane}: ${log}`).join('\n');
  }

  #writeNext(): void {
    const { length } = this.written;
    const writer = this.#writers[length % this.#writers.length]!;
    const sequence = Math.floor(length / this.#writers.length) + 1;
    const filling = 'x'.repeat(this.#options.contentLength ?? length % 300);
    const entry = createEntry(writer.lane, sequence, `${length} é 漢字 😀 "\\u0041" \n ${filling}`);
    this.written.push(entry);
    writer.write(entry);
  }
}

class LaneWriter {
  readonly lane: string;
  readonly #child: ChildProcessByStdio<Writable, null, Readable>;
  readonly #ended: Promise<unknown>;
  #complaints = '';

  constructor({ brokers, topic }: LedgerStreamOptions, lane: string) {
    this.lane = lane;
    const settings = [
      'enable.idempotence=true',
      'message.timeout.ms=0',
      'reconnect.backoff.max.ms=1000',
      'linger.ms=5',
      // librdkafka asks for a leader that is not known in intervals that double up to this one, 5 minutes by default.
      'topic.metadata.refresh.interval.ms=2000',
    ];
    // -E: that all brokers are away is no reason to end.
    const flags = ['-P', '-E', '-b', brokers, '-t', topic, '-p', lane, ...settings.flatMap((one) => ['-X', one])];
    this.#child = spawn('kcat', flags, { stdio: ['pipe', 'ignore', 'pipe'] });
    this.#child.stderr.on(
      'data',
      (chunk: Buffer) => (this.#complaints = (this.#complaints + chunk.toString()).slice(-4000)),
    );
    this.#child.stdin.on('error', () => undefined);
    this.#ended = once(this.#child, 'close');
  }

  get log(): string {
    return `${this.#child.exitCode === null ? 'runs' : `ended with ${this.#child.exitCode}`}\n${this.#complaints}`;
  }

  write(entry: Entry): void {
    // JSON has no raw line feeds, so one ends a record.
    this.#child.stdin.write(`${JSON.stringify({ lane: this.lane, ledgerEntry: recordedEntry(entry) })}\n`);
  }

  /** kcat reads blocks of 1 KB, and waits for a whole one. Spaces before the next record are part of its JSON. */
  flush(): void {
    this.#child.stdin.write(' '.repeat(1024));
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
    const { exitCode } = this.#child;
    if (exitCode !== 0 || /delivery failed/i.test(this.#complaints)) {
      throw new Error(`kcat for partition ${this.lane} ended with ${exitCode}: ${this.#complaints}`);
    }
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
