import { RateLimit } from '../limits/rate-limit.ts';

/** Read at each handshake, so they may change while the gateway runs. */
export interface AdmissionLimits {
  /** 0: no limit. */
  maxConnections: number;
  /** 0: no limit. */
  maxHandshakesPerSecond: number;
  maxHandshakeBurst: number;
}

/** Why a handshake is not admitted, as a metric label. */
export type AdmissionRefusal = 'memory' | 'loop_lag' | 'connections' | 'handshake_rate';

/** Read at each handshake. */
export interface Overload {
  readonly isMemoryShort: () => boolean;
  /** True while the event loop stays late: `LoopLag.isLate`. */
  readonly isLoopLate: () => boolean;
}

/** Fraction of `maxConnections` below which a full gateway is ready again. */
const REOPENED_FRACTION = 0.95;

/** Decides which handshakes a gateway accepts. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #connections: () => number;
  readonly #overload: Overload;
  #bucket: RateLimit | undefined;
  #bucketLimits = '';
  #isFull = false;

  constructor(limits: AdmissionLimits, connections: () => number, overload: Overload) {
    this.#limits = limits;
    this.#connections = connections;
    this.#overload = overload;
  }

  /** True from `maxConnections` on until there are 5 % less: the gateway should not be ready meanwhile, without flapping. */
  get isFull(): boolean {
    const { maxConnections } = this.#limits;
    const bound = this.#isFull ? maxConnections * REOPENED_FRACTION : maxConnections;
    this.#isFull = maxConnections > 0 && this.#connections() >= bound;
    return this.#isFull;
  }

  /** True at `maxConnections`. */
  get isReached(): boolean {
    const { maxConnections } = this.#limits;
    return maxConnections > 0 && this.#connections() >= maxConnections;
  }

  /** Returns undefined if the handshake is admitted. `nowMs`: a monotonic clock. */
  refusal(nowMs: number): AdmissionRefusal | undefined {
    if (this.#overload.isMemoryShort()) return 'memory';
    if (this.#overload.isLoopLate()) return 'loop_lag';
    if (this.isReached) return 'connections';
    return this.#takeToken(nowMs) ? undefined : 'handshake_rate';
  }

  #takeToken(nowMs: number): boolean {
    const { maxHandshakesPerSecond: perSecond, maxHandshakeBurst: burst } = this.#limits;
    if (perSecond === 0) return true;
    const limits = `${perSecond} ${burst}`;
    if (!this.#bucket || limits !== this.#bucketLimits) this.#bucket = new RateLimit(perSecond, burst);
    this.#bucketLimits = limits;
    return this.#bucket.take(nowMs);
  }
}
