import type { Sender } from '../../bus/flow/sender.ts';
import type { Logger } from '../../base/log.ts';
import { partitionKey } from '../partition-key.ts';

/** A partition counts as limited for this long after its last wait. Under load it waits many times a second. */
const LIMITED_MS = 1000;
/** Limiting has ended when no partition has waited for this long. */
const QUIET_MS = 5000;
/** Why records wait, in the log. */
const LAGGING = 'a gateway that receives them lags';
const MISSING = 'gateways have not subscribed again since Redis was away';
/** Gateways whose seconds are kept: the last ones that limited. Every new pod has a new name. */
const MAX_GATEWAYS = 20;

export interface LimitedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The gateway that lagged most when the wait began; undefined: unknown. */
  readonly gateway: string | undefined;
}

interface Waits extends LimitedPartition {
  /** Time up to which the wait is counted, of performance.now(). */
  countedAt: number;
  /** End of the last wait, of performance.now(); Infinity: the partition waits now. */
  endedAt: number;
}

/**
 * Delays the records of a partition while a gateway that receives them lags. Counts the seconds by topic and by gateway. Logs one line
 * when the first partition waits, and one when no partition has waited for 5 s. Holds one entry for each partition that waited since.
 */
export class FlowWait {
  readonly #sender: Pick<Sender, 'room' | 'whenRoom'>;
  readonly #log: Logger;
  readonly #waits = new Map<string, Waits>();
  readonly #secondsByTopic = new Map<string, number>();
  /** In the order of the gateways' last waits. */
  readonly #secondsByGateway = new Map<string, number>();
  #quietTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(sender: Pick<Sender, 'room' | 'whenRoom'>, log: Logger) {
    this.#sender = sender;
    this.#log = log;
  }

  /** Partitions that wait now, or have waited within the last second. */
  get partitions(): readonly LimitedPartition[] {
    const since = performance.now() - LIMITED_MS;
    return [...this.#waits.values()]
      .filter(({ endedAt }) => endedAt > since)
      .map(({ topic, partition, gateway }) => ({ topic, partition, gateway }));
  }

  /** Seconds that the partitions of each topic have waited; two partitions that wait at once count twice. */
  secondsByTopic(): ReadonlyMap<string, number> {
    this.#countCurrent();
    return this.#secondsByTopic;
  }

  /** The same seconds by the gateway that lagged most; '': unknown. */
  secondsByGateway(): ReadonlyMap<string, number> {
    this.#countCurrent();
    return this.#secondsByGateway;
  }

  has(topic: string, partition: number): boolean {
    const waits = this.#waits.get(partitionKey(topic, partition));
    return waits !== undefined && waits.endedAt > performance.now() - LIMITED_MS;
  }

  /** Bytes that may be published now. */
  room(topic: string, partition: number): number {
    return this.#sender.room(topic, partition).bytes;
  }

  /** Resolves with the bytes that may be published, once there are any; with 0 if the signal ended the wait. */
  async whenRoom(
    topic: string,
    partition: number,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<number> {
    for (;;) {
      const { bytes, gateway, areGatewaysMissing } = this.#sender.room(topic, partition);
      if (bytes > 0 || signal.aborted) return bytes;
      await this.#wait({ topic, partition, gateway }, areGatewaysMissing ? MISSING : LAGGING, signal);
    }
  }

  /** Logs nothing after this. Idempotent. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#quietTimer);
    return Promise.resolve();
  }

  async #wait(limited: LimitedPartition, reason: string, signal: AbortSignal): Promise<void> {
    const { topic, partition } = limited;
    const waits: Waits = { ...limited, countedAt: performance.now(), endedAt: Infinity };
    if (this.#waits.size === 0) this.#log.info(limited, `records wait in Kafka: ${reason}`);
    this.#waits.set(partitionKey(topic, partition), waits);
    await this.#sender.whenRoom(topic, partition, signal);
    waits.endedAt = performance.now();
    this.#count(waits, waits.endedAt);
    this.#awaitQuiet(limited);
  }

  /** Counts running waits: one may last for minutes, while the metrics are read. */
  #countCurrent(): void {
    const now = performance.now();
    for (const waits of this.#waits.values()) if (waits.endedAt === Infinity) this.#count(waits, now);
  }

  #count(waits: Waits, now: number): void {
    const { topic, gateway = '' } = waits;
    const seconds = (now - waits.countedAt) / 1000;
    waits.countedAt = now;
    this.#secondsByTopic.set(topic, (this.#secondsByTopic.get(topic) ?? 0) + seconds);
    this.#countGateway(gateway, seconds);
  }

  #countGateway(gateway: string, seconds: number): void {
    const before = this.#secondsByGateway.get(gateway) ?? 0;
    this.#secondsByGateway.delete(gateway);
    this.#secondsByGateway.set(gateway, before + seconds);
    const [oldest] = this.#secondsByGateway.keys();
    if (this.#secondsByGateway.size > MAX_GATEWAYS) this.#secondsByGateway.delete(oldest!);
  }

  #awaitQuiet(last: LimitedPartition): void {
    clearTimeout(this.#quietTimer);
    if (this.#isClosed) return;
    this.#quietTimer = setTimeout(() => {
      if ([...this.#waits.values()].some(({ endedAt }) => endedAt === Infinity)) return;
      this.#waits.clear();
      this.#log.info(last, 'no records wait for a gateway any more');
    }, QUIET_MS).unref();
  }
}
