import { claimText, isIssuedBefore } from './revocation.ts';
import type { Identity, Revocation } from './revocation.ts';

/** Revocations that all pods together keep at most. One takes some 200 bytes, 1.2 KB at most. */
export const MAX_REVOCATIONS = 20_000;
/** Interval in ms at which revocations that have ended are removed. */
const SWEEP_INTERVAL_MS = 60_000;

/** The revocations that a pod knows, by the claim that they name. */
export class Revocations {
  /** By text, as they are kept for all pods. */
  readonly #texts = new Map<string, Revocation>();
  /** By the claim's name and its value. */
  readonly #byName = new Map<string, Map<string, Set<Revocation>>>();
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

  /** True if a revocation refuses the identity. @param expiresAtMs when its token is refused anyway */
  refuses(identity: Identity, expiresAtMs?: number): boolean {
    const now = Date.now();
    if (expiresAtMs !== undefined) this.#longestLifeMs = Math.max(this.#longestLifeMs, expiresAtMs - now);
    const { claims, token = claims } = identity;
    for (const [name, byValue] of this.#byName) {
      for (const source of token === claims ? [claims] : [token, claims]) {
        const value = claimText(source, name);
        if (value === undefined) continue;
        for (const revocation of byValue.get(value) ?? [])
          if (revocation.untilMs > now && isIssuedBefore(identity, revocation)) return true;
      }
    }
    return false;
  }

  close(): Promise<void> {
    clearInterval(this.#sweep);
    return Promise.resolve();
  }

  #removeEnded(): void {
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
