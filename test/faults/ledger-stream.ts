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
  /** Number of lanes. A lane is a partition, named by its number. */
  readonly partitions: number;
  /** Lanes that are written to. Default: all. */
  readonly lanes?: readonly string[];
  /** Rate over all lanes. */
  readonly recordsPerSecond: number;
  /** Number of records. Default: until `stop`. */
  readonly records?: number;
  /** Approximate length of an entry. Default: up to 300 characters. */
  readonly contentLength?: number;
}

/**
 * Writes the ledger at a steady rate with one kcat per partition. The writers are idempotent and retry for ever, so every record is in
 * Kafka once and in order, despite broker failures.
 */
export class LedgerStream {
  /** Written entries in the order of their lanes. */
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

  /** Writes one mark per lane. */
  mark(sequence: number): void {
    for (const writer of this.#writers) writer.write(createEntry(writer.lane, sequence, 'mark'));
  }

  /** Flushes written records, also when nothing follows for a while. A later write must follow. */
  flush(): void {
    for (const writer of this.#writers) writer.flush();
  }

  start(): void {
    const { recordsPerSecond, records = Infinity } = this.#options;
    let startedAt = performance.now();
    let count = 0;
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * recordsPerSecond);
      // A process that missed its turns does not catch up in one burst.
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

  /** Resolves when Kafka has acknowledged all records. @throws Error with kcat's output otherwise. */
  async end(): Promise<void> {
    this.stop();
    await Promise.all(this.#writers.map((writer) => writer.end()));
  }

  /** Output of the writers. */
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
      // With several requests in flight a retry of the first meets the sequence of the next, which librdkafka takes for fatal.
      'max.in.flight.requests.per.connection=1',
      'message.timeout.ms=0',
      'reconnect.backoff.max.ms=1000',
      'linger.ms=5',
      // Maximum backoff of librdkafka's queries for an unknown leader; 5 minutes by default.
      'topic.metadata.refresh.interval.ms=2000',
    ];
    // -E: do not exit when all brokers are down.
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

  /** kcat waits for whole blocks of 1 KB. The padding spaces become part of the next record's JSON. */
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
