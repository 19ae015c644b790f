import { claimText, isRevoked } from './revocation.ts';
import type { KnownClaims, Revocation } from './revocation.ts';

/** Revocations that all pods together keep at most. One takes some 200 bytes, 1.7 KB at most. */
export const MAX_REVOCATIONS = 20_000;
/** Interval in ms at which revocations that have ended are removed. */
const SWEEP_INTERVAL_MS = 60_000;
/** For how long authentications in flight are compared with a revocation that is not kept, in ms: longer than they take. */
const IN_FLIGHT_MS = 600_000;
/** Of more of these, the latest count. */
const MAX_IN_FLIGHT = 1_000;

/** An authentication that is compared with revocations. */
export interface Authentication {
  /** When the token is refused anyway, in ms since 1970; undefined: it has none. */
  readonly expiresAtMs: number | undefined;
  /** When the authentication began, by `performance.now()`. */
  readonly begunAt: number;
}

/** A revocation that is not kept. It applies to authentications that began before `madeAt`, of `performance.now()`. */
interface UnkeptRevocation {
  readonly revocation: Revocation;
  readonly madeAt: number;
}

/** The revocations that a pod knows, by the claim that they name. */
export class Revocations {
  /** By text, as they are kept for all pods. */
  readonly #texts = new Map<string, Revocation>();
  /** By the claim's name and its value. */
  readonly #byName = new Map<string, Map<string, Set<Revocation>>>();
  #unkept: UnkeptRevocation[] = [];
  #longestLifeMs = 0;
  readonly #sweep = setInterval(() => this.#removeEnded(), SWEEP_INTERVAL_MS).unref();

  get size(): number {
    return this.#texts.size;
  }

  /** True if no further one may be made. Those of other pods are added nevertheless. */
  get isFull(): boolean {
    if (this.size >= MAX_REVOCATIONS) this.#removeEnded();
    return this.size >= MAX_REVOCATIONS;
  }

  /** The longest time for which a token that was seen is accepted, in ms. */
  get longestLifeMs(): number {
    return this.#longestLifeMs;
  }

  /** The revocations that have not ended, by text. */
  get current(): Iterable<[text: string, revocation: Revocation]> {
    this.#removeEnded();
    return this.#texts;
  }

  /** Returns false for one that is known already, or has ended. */
  add(text: string, revocation: Revocation): boolean {
    if (this.#texts.has(text) || revocation.untilMs <= Date.now()) return false;
    this.#texts.set(text, revocation);
    const { name, value } = revocation;
    const byValue = this.#byName.get(name) ?? new Map<string, Set<Revocation>>();
    this.#byName.set(name, byValue);
    const same = byValue.get(value) ?? new Set();
    byValue.set(value, same);
    same.add(revocation);
    return true;
  }

  /** Refuses only the authentications in flight, as if their connections were open already. */
  refuseInFlight(revocation: Revocation): void {
    this.#unkept.push({ revocation, madeAt: performance.now() });
    if (this.#unkept.length > MAX_IN_FLIGHT) this.#unkept.shift();
  }

  /** True if a revocation applies to the claims. @param authentication if it is one, not a connection that is open */
  refuses(known: KnownClaims, authentication?: Authentication): boolean {
    const now = Date.now();
    if (authentication && this.#refusesInFlight(known, authentication)) return true;
    const { expiresAtMs } = authentication ?? {};
    if (expiresAtMs !== undefined) this.#longestLifeMs = Math.max(this.#longestLifeMs, expiresAtMs - now);
    const { claims, token = claims } = known;
    for (const [name, byValue] of this.#byName) {
      for (const source of token === claims ? [claims] : [token, claims]) {
        const value = claimText(source, name);
        if (value === undefined) continue;
        for (const revocation of byValue.get(value) ?? [])
          if (revocation.untilMs > now && isRevoked(known, revocation)) return true;
      }
    }
    return false;
  }

  close(): Promise<void> {
    clearInterval(this.#sweep);
    return Promise.resolve();
  }

  #refusesInFlight(known: KnownClaims, { begunAt }: Authentication): boolean {
    return this.#unkept.some(({ revocation, madeAt }) => begunAt <= madeAt && isRevoked(known, revocation));
  }

  #removeEnded(): void {
    const oldest = performance.now() - IN_FLIGHT_MS;
    this.#unkept = this.#unkept.filter(({ madeAt }) => madeAt > oldest);
    const now = Date.now();
    for (const [text, revocation] of this.#texts) {
      if (revocation.untilMs > now) continue;
      this.#texts.delete(text);
      const { name, value } = revocation;
      const byValue = this.#byName.get(name)!;
      const same = byValue.get(value)!;
      same.delete(revocation);
      if (same.size === 0) byValue.delete(value);
      if (byValue.size === 0) this.#byName.delete(name);
    }
  }
}
