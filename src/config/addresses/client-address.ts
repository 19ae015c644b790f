import type { IncomingMessage } from 'node:http';
import { AddressRanges } from './address-ranges.ts';
import { addressIn, plainAddress } from './ip-address.ts';

/**
 * Why the address of a client is not known. `missing`: a trusted proxy sent no X-Forwarded-For; `unreadable`: an entry in it is no address;
 * `ignored`: an address was refused, and its peer, which is no trusted proxy, sent one.
 */
export type AddressProblem = 'missing' | 'unreadable' | 'ignored';

/** Proxies whose X-Forwarded-For is believed. */
export class TrustedProxies {
  readonly #ranges: AddressRanges;
  readonly #onProblem: (problem: AddressProblem, peer: string) => void;

  /**
   * @param ranges texts for which `isAddressRange` is true
   * @param onProblem is called for each request that has one, with the address of the proxy or peer
   */
  constructor(ranges: readonly string[], onProblem: (problem: AddressProblem, peer: string) => void = () => undefined) {
    this.#ranges = new AddressRanges(ranges);
    this.#onProblem = onProblem;
  }

  /** Address of the client that sent a request. */
  addressOf({ headers, socket }: IncomingMessage): string {
    // Node joins repeated headers of this name.
    return this.clientOf(socket.remoteAddress ?? '', headers['x-forwarded-for'] as string | undefined);
  }

  /**
   * Address of the client behind the proxies: the last one in X-Forwarded-For that is no trusted proxy, because each proxy appends the
   * peer that it sees and a client may send the header itself. Without a trusted peer, the peer.
   * @param forwardedFor the header's values, joined by commas
   */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    let client = plainAddress(peer);
    if (!this.#ranges.has(client)) return client;
    if (forwardedFor === undefined) {
      this.#onProblem('missing', client);
      return client;
    }
    for (const entry of forwardedFor.split(',').toReversed()) {
      const address = addressIn(entry);
      // The entries before it were written by somebody who does not write addresses.
      if (address === undefined) {
        this.#onProblem('unreadable', client);
        return client;
      }
      client = address;
      if (!this.#ranges.has(address)) return client;
    }
    return client;
  }

  /** Called when a request is refused because its address has used up a limit: the address may be that of a proxy. */
  onAddressRefused({ headers, socket }: IncomingMessage): void {
    const peer = plainAddress(socket.remoteAddress ?? '');
    if (headers['x-forwarded-for'] !== undefined && !this.#ranges.has(peer)) this.#onProblem('ignored', peer);
  }
}
