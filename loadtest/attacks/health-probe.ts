import { Agent, get } from 'node:http';
import { latenciesOf } from './bystanders.ts';
import type { Latencies } from './bystanders.ts';

const INTERVAL_MS = 20;
/** Limit of pending requests. At the limit, requests are skipped; the pending ones show the wait. */
const MAX_WAITING = 50;

/** Requests /healthz at a steady rate, regardless of earlier answers. */
export class HealthProbe {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_WAITING });
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<number>();
  #times: number[] = [];

  constructor(adminPort: number) {
    this.#url = `http://127.0.0.1:${adminPort}/healthz`;
  }

  start(): void {
    this.#timer = setInterval(() => this.#ask(), INTERVAL_MS);
  }

  /** Response times since the last call, in ms. A pending request counts with its wait so far. */
  take(): Latencies {
    const nowMs = performance.now();
    const latencies = latenciesOf([...this.#times, ...[...this.#waiting].map((askedAt) => nowMs - askedAt)]);
    this.#times = [];
    return latencies;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }

  #ask(): void {
    if (this.#waiting.size >= MAX_WAITING) return;
    const askedAt = performance.now();
    this.#waiting.add(askedAt);
    const settle = () => {
      if (this.#waiting.delete(askedAt)) this.#times.push(performance.now() - askedAt);
    };
    get(this.#url, { agent: this.#agent }, (response) => response.resume().once('end', settle)).once('error', settle);
  }
}
