import { LRUCache } from 'lru-cache';
import { addressKey } from '../../config/addresses/ip-address.ts';

/** Addresses change, and so do versions of browsers. */
const DECLINED_MS = 24 * 60 * 60_000;
const MAX_CLIENTS = 1000;
const MAX_AGENT_LENGTH = 256;

/**
 * Clients that agreed to compress each message alone (`client_no_context_takeover`, RFC 7692 section 7.1.1.2) and keep their window, as Safari
 * does. For a day the same program at the same address gets no compression.
 */
export class KeptWindows {
  readonly #clients = new LRUCache<string, true>({ max: MAX_CLIENTS, ttl: DECLINED_MS });

  add(address: string, userAgent: string | undefined): void {
    this.#clients.set(keyOf(address, userAgent), true);
  }

  has(address: string, userAgent: string | undefined): boolean {
    return this.#clients.has(keyOf(address, userAgent));
  }
}

function keyOf(address: string, userAgent = ''): string {
  return `${addressKey(address)} ${userAgent.slice(0, MAX_AGENT_LENGTH)}`;
}
