/** A record of the embedded mode. */
export interface EmbeddedRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where a record is in its topic. */
export interface EmbeddedPosition {
  readonly topic: string;
  readonly partition: 0;
  readonly offset: number;
  readonly timestamp: number;
}

type Process = (record: EmbeddedRecord & EmbeddedPosition, signal: AbortSignal | undefined) => Promise<void>;

/** The topics of the embedded mode, each of one partition. Records are processed in turn, as if Kafka had delivered them. */
export class EmbeddedTopics {
  /** True if another program appends records, beside the graph's samples and mutations. */
  readonly isFed: boolean;
  #connect!: (process: Process) => void;
  readonly #process = new Promise<Process>((resolve) => (this.#connect = resolve));
  #offset = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ isFed = false }: { readonly isFed?: boolean } = {}) {
    this.isFed = isFed;
  }

  /** Until the worker connects them, records wait. */
  connect(process: Process): void {
    this.#connect(process);
  }

  /** Resolves when the record is processed. */
  append(topic: string, record: EmbeddedRecord, signal?: AbortSignal): Promise<EmbeddedPosition> {
    const turn = this.#last.then(async () => {
      const process = await this.#process;
      const position = { topic, partition: 0, offset: this.#offset++, timestamp: Date.now() } as const;
      await process({ ...record, ...position }, signal);
      return position;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
