/** Least time from a gateway's last credit until it is sought, and between two searches, in ms. */
const SEEK_INTERVAL_MS = 50;
/** A gateway is gone if it sends no credit for this many times the patience. */
const GONE_AFTER = 12;

/** What a worker knows of a gateway across streams. */
export interface Contact {
  /** Time of its last credit, of performance.now(); -Infinity: long ago. */
  creditAt: number;
  /** Time of the last search, of performance.now(). */
  soughtAt: number;
  /** It sent no credit for the length of the patience. */
  isSilent: boolean;
  /** A search has found it: one of an earlier version is never found. */
  wasFound: boolean;
  /** It was found before, and not by the last search, and has sent no credit since. */
  isAbsent: boolean;
}

/** The gateways from which a worker has heard lately: those that are gone are removed when another one appears. */
export class Contacts {
  readonly #patienceMs: number;
  readonly #seek: (gateway: string) => void;
  readonly #contacts = new Map<string, Contact>();

  /** @param seek finds out whether a gateway is subscribed, and calls `onSought` */
  constructor(patienceMs: number, seek: (gateway: string) => void) {
    this.#patienceMs = patienceMs;
    this.#seek = seek;
  }

  of(gateway: string): Contact {
    let contact = this.#contacts.get(gateway);
    if (!contact) {
      const times = { creditAt: -Infinity, soughtAt: -Infinity };
      contact = { ...times, isSilent: false, wasFound: false, isAbsent: false };
      this.#contacts.set(gateway, contact);
    }
    return contact;
  }

  onCredit(gateway: string, now: number): void {
    if (!this.#contacts.has(gateway)) {
      this.#forgetGone(now);
      this.seek(gateway, now);
    }
    Object.assign(this.of(gateway), { creditAt: now, isSilent: false, isAbsent: false });
  }

  /** Finds out whether a gateway that has sent no credit lately is subscribed. */
  seek(gateway: string, now: number): void {
    const contact = this.of(gateway);
    if (now - Math.max(contact.creditAt, contact.soughtAt) < SEEK_INTERVAL_MS) return;
    contact.soughtAt = now;
    this.#seek(gateway);
  }

  onSought(gateway: string, isSubscribed: boolean): void {
    const contact = this.#contacts.get(gateway);
    if (!contact) return;
    contact.isAbsent = contact.wasFound && !isSubscribed;
    contact.wasFound ||= isSubscribed;
  }

  isGone(gateway: string, now: number): boolean {
    return now - this.of(gateway).creditAt > GONE_AFTER * this.#patienceMs;
  }

  /** Gateways that drain say so for each stream, not for all, and some end without a word. */
  #forgetGone(now: number): void {
    for (const gateway of this.#contacts.keys()) if (this.isGone(gateway, now)) this.#contacts.delete(gateway);
  }
}
