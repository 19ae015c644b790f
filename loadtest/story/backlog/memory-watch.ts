import { Redis } from 'ioredis';
import { residentBytes } from '../../processes/process-usage.ts';
import { WATCH_NAME } from './publish-watch.ts';

const INTERVAL_MS = 100;

export interface MemoryPeaks {
  /** The largest output buffer of a Redis subscriber (CLIENT LIST: omem). */
  readonly redisOutputBytes: number;
  /** The largest resident memory of a pod. */
  readonly residentBytes: number;
}

/** Polls Redis's output buffers for subscribers and the pods' resident memory, ten times a second. */
export class MemoryWatch {
  readonly #redis: Redis;
  readonly #pids: readonly number[];
  #timer: NodeJS.Timeout | undefined;
  #last: MemoryPeaks = { redisOutputBytes: 0, residentBytes: 0 };
  #peaks = this.#last;

  constructor(redisUrl: string, pids: readonly number[]) {
    this.#redis = new Redis(redisUrl, { lazyConnect: true });
    this.#pids = pids;
  }

  async start(): Promise<void> {
    this.#redis.on('error', () => undefined);
    await this.#redis.connect();
    await this.#poll();
    this.#timer = setInterval(() => void this.#poll().catch(() => undefined), INTERVAL_MS);
  }

  /** The largest values since the last call; the last values if no poll has ended since then. */
  take(): MemoryPeaks {
    const peaks = this.#peaks;
    this.#peaks = this.#last;
    return peaks;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#redis.disconnect();
  }

  async #poll(): Promise<void> {
    const resident = Math.max(...this.#pids.map(residentBytes));
    const list = (await this.#redis.client('LIST', 'TYPE', 'PUBSUB')) as string;
    this.#last = { redisOutputBytes: largestOutput(list, WATCH_NAME), residentBytes: resident };
    this.#peaks = {
      redisOutputBytes: Math.max(this.#peaks.redisOutputBytes, this.#last.redisOutputBytes),
      residentBytes: Math.max(this.#peaks.residentBytes, this.#last.residentBytes),
    };
  }
}

/** Bytes of the largest output buffer in a CLIENT LIST, without the clients of this name. */
export function largestOutput(clientList: string, exceptName: string): number {
  let largest = 0;
  for (const line of clientList.split('\n')) {
    const omem = / omem=(\d+)/.exec(line);
    if (omem && !line.includes(` name=${exceptName} `)) largest = Math.max(largest, Number(omem[1]));
  }
  return largest;
}
