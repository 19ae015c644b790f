import { RateLimit } from '../../base/limits/rate-limit.ts';

/** Read at each handshake, so they may change while the gateway runs. */
export interface AdmissionLimits {
  /** 0: no limit. */
  maxConnections: number;
  /** Connections for which there are open files. */
  readonly maxOpenFiles: number;
  /** 0: no limit. */
  maxHandshakesPerSecond: number;
  maxHandshakeBurst: number;
}

/** Why a handshake is not admitted, as a metric label. */
export type AdmissionRefusal = 'memory' | 'loop_lag' | 'handshake_rate' | ReachedLimit;

export type ReachedLimit = 'connections' | 'open_files';

/** Read at each handshake. */
export interface Overload {
  readonly isMemoryShort: () => boolean;
  /** True while the event loop stays late: `LoopLag.isLate`. */
  readonly isLoopLate: () => boolean;
}

/** Fraction of the limit of connections below which a full gateway is ready again. */
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

  /** Returns true from the limit of connections on until there are 5 % less, so that readiness does not flap. Remembers the result. */
  checkFull(): boolean {
    const { maxConnections, maxOpenFiles } = this.#limits;
    const limit = Math.min(maxConnections || Infinity, maxOpenFiles);
    this.#isFull = this.#connections() >= (this.#isFull ? limit * REOPENED_FRACTION : limit);
    return this.#isFull;
  }

  /** The limit of connections that is reached; undefined: none. */
  get reached(): ReachedLimit | undefined {
    const { maxConnections, maxOpenFiles } = this.#limits;
    const count = this.#connections();
    if (maxConnections > 0 && count >= maxConnections) return 'connections';
    return count >= maxOpenFiles ? 'open_files' : undefined;
  }

  /** Returns undefined if the handshake is admitted. `nowMs`: a monotonic clock. */
  refusal(nowMs: number): AdmissionRefusal | undefined {
    if (this.#overload.isMemoryShort()) return 'memory';
    if (this.#overload.isLoopLate()) return 'loop_lag';
    return this.reached ?? (this.#takeToken(nowMs) ? undefined : 'handshake_rate');
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
