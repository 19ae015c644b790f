import type { IncomingMessage } from 'node:http';
import { AddressRanges } from '../../config/addresses/address-ranges.ts';
import { addressIn, plainAddress } from '../../config/addresses/ip-address.ts';
import { hasRequiredClaim } from '../../config/required-claims.ts';
import type { RouterSettings } from '../../config/routers.ts';
import type { Claims } from '../../graph/context/connection-facts.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/** Which clients are routers. A router sends the operations of many users over one connection, so it has limits of its own. */
export class Routers {
  readonly limits: ConnectionLimits;
  readonly #networks: AddressRanges;
  readonly #claims: RouterSettings['claims'];
  readonly #onProxy: (proxy: string) => void;

  /** @param onProxy is called for each request of a client in a router's network that forwards requests of others, with its address */
  constructor(
    { networks, claims }: RouterSettings,
    limits: ConnectionLimits,
    onProxy: (proxy: string) => void = () => undefined,
  ) {
    this.limits = limits;
    this.#networks = new AddressRanges(networks);
    this.#claims = claims;
    this.#onProxy = onProxy;
  }

  /** True: nobody is a router. */
  get isEmpty(): boolean {
    return this.#networks.isEmpty && this.#claims.length === 0;
  }

  /**
   * True if a client in a router's network has sent the request. One that names another client in X-Forwarded-For, and is no trusted proxy, is
   * an unknown proxy: its clients could be anybody.
   * @param address of the client, as far as proxies are trusted
   */
  hasSent({ headers, socket }: IncomingMessage, address: string): boolean {
    if (!this.#networks.has(address)) return false;
    // Node joins repeated headers of this name.
    const forwardedFor = headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor === undefined) return true;
    const isPeer = plainAddress(socket.remoteAddress ?? '') === address;
    // Entries before its own are those that it has forwarded.
    if (!isPeer && forwardedFor.split(',').findLastIndex((entry) => addressIn(entry) === address) === 0) return true;
    this.#onProxy(address);
    return false;
  }

  /** True if the claims of a verified token are a router's. @param token undefined: there is none */
  hasToken(token: Claims | undefined): boolean {
    return token !== undefined && this.#claims.some((claim) => hasRequiredClaim(token, claim));
  }
}
