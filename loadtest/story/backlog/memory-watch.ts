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
  #redisOutputBytes = 0;
  #residentBytes = 0;

  constructor(redisUrl: string, pids: readonly number[]) {
    this.#redis = new Redis(redisUrl, { lazyConnect: true });
    this.#pids = pids;
  }

  async start(): Promise<void> {
    this.#redis.on('error', () => undefined);
    await this.#redis.connect();
    this.#timer = setInterval(() => void this.#poll().catch(() => undefined), INTERVAL_MS);
  }

  /** The largest values since the last call. */
  take(): MemoryPeaks {
    const peaks = { redisOutputBytes: this.#redisOutputBytes, residentBytes: this.#residentBytes };
    this.#redisOutputBytes = this.#residentBytes = 0;
    return peaks;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#redis.disconnect();
  }

  async #poll(): Promise<void> {
    for (const pid of this.#pids) this.#residentBytes = Math.max(this.#residentBytes, residentBytes(pid));
    const list = (await this.#redis.client('LIST', 'TYPE', 'PUBSUB')) as string;
    this.#redisOutputBytes = Math.max(this.#redisOutputBytes, largestOutput(list, WATCH_NAME));
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
