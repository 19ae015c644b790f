import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BlockList } from 'node:net';
import { hostnameOf, isFixedHostname } from '../../config/addresses/host.ts';

/** Why a request may not read or change anything. */
export interface AccessRefusal {
  readonly status: 401 | 403;
  readonly text: string;
}

const NO_TOKEN: AccessRefusal = {
  status: 401,
  text: 'expected the header "Authorization: Bearer <the value of ADMIN_TOKEN>"\n',
};
const NOT_LOOPBACK: AccessRefusal = {
  status: 403,
  text: 'only health and metrics are served here: set ADMIN_TOKEN, or let ADMIN_HOST be a loopback address\n',
};
const OTHER_HOST: AccessRefusal = {
  status: 403,
  text: 'the Host header is neither localhost nor an IP address, so a web page may have sent the request: set ADMIN_TOKEN\n',
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/** Who may use the paths of the admin port that show or change something: with a token whoever has it, else whoever is on this machine. */
export class AdminAccess {
  readonly #token: Buffer | undefined;
  readonly #listener: (() => AddressInfo) | undefined;

  /**
   * @param token ADMIN_TOKEN; '': none
   * @param listener undefined: they may be used without a token on whatever address
   */
  constructor(token: string, listener?: () => AddressInfo) {
    this.#token = token === '' ? undefined : digest(token);
    this.#listener = listener;
  }

  /** True if nobody may use them. The listener counts, not the peer: a proxy beside the pod makes all peers local. */
  get isClosed(): boolean {
    if (!this.#listener) return false;
    const { address, family } = this.#listener();
    return !this.#token && !LOOPBACK.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4');
  }

  /** undefined: the request is permitted. */
  refusal({ headers: { authorization, host } }: Pick<IncomingMessage, 'headers'>): AccessRefusal | undefined {
    if (this.#token) {
      const [, token = ''] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
      return timingSafeEqual(digest(token), this.#token) ? undefined : NO_TOKEN;
    }
    if (this.isClosed) return NOT_LOOPBACK;
    return host === undefined || isFixedHostname(hostnameOf(host) ?? '') ? undefined : OTHER_HOST;
  }
}

/** Of one length for all tokens, as `timingSafeEqual` needs. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
