import { Redis } from 'ioredis';
import { residentBytes } from '../../processes/process-usage.ts';
import { WATCH_NAME } from './publish-watch.ts';

const INTERVAL_MS = 100;

export interface MemoryPeaks {
  /** What waits in Redis for a subscriber (CLIENT LIST: omem), the largest. */
  readonly redisOutputBytes: number;
  /** Resident memory of a pod, the largest. */
  readonly residentBytes: number;
}

/** Looks ten times a second at what Redis holds for its subscribers, and at the pods' resident memory. */
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
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), INTERVAL_MS);
  }

  /** The largest values since the call before. */
  take(): MemoryPeaks {
    const peaks = { redisOutputBytes: this.#redisOutputBytes, residentBytes: this.#residentBytes };
    this.#redisOutputBytes = this.#residentBytes = 0;
    return peaks;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#redis.disconnect();
  }

  async #look(): Promise<void> {
    for (const pid of this.#pids) this.#residentBytes = Math.max(this.#residentBytes, residentBytes(pid));
    const list = (await this.#redis.client('LIST', 'TYPE', 'PUBSUB')) as string;
    this.#redisOutputBytes = Math.max(this.#redisOutputBytes, largestOutput(list, WATCH_NAME));
  }
}

/** Bytes of the largest output buffer in a CLIENT LIST, but for the clients of this name. */
export function largestOutput(clientList: string, exceptName: string): number {
  let largest = 0;
  for (const line of clientList.split('\n')) {
    const omem = / omem=(\d+)/.exec(line);
    if (omem && !line.includes(` name=${exceptName} `)) largest = Math.max(largest, Number(omem[1]));
  }
  return largest;
}
