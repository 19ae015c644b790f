import { DEPRECATED_GRAPHQL_WS_PROTOCOL } from 'graphql-ws';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import type { SocketFormat } from './socket-format.ts';
import { TRANSPORT_WS } from './transport-ws.ts';

/** The sub-protocols that are served, the preferred one first. */
export const SOCKET_FORMATS: readonly [SocketFormat, ...SocketFormat[]] = [TRANSPORT_WS];

/**
 * Chooses among the sub-protocols that a client offers. The one of subscriptions-transport-ws is accepted, too, and closed at once: a browser
 * tells its page nothing of a handshake that selects none.
 */
export function selectProtocol(offered: ReadonlySet<string>): string | false {
  const known = [...SOCKET_FORMATS.map(({ subprotocol }) => subprotocol), DEPRECATED_GRAPHQL_WS_PROTOCOL];
  return known.find((protocol) => offered.has(protocol)) ?? false;
}

/** A page of a browser can send no header of its own but this one. What follows may not have `=` or `/`, and a JWT has none. */
const TOKEN_PREFIX = 'bearer.';

/** The token that a client offers as a sub-protocol, `bearer.<token>`, beside the one that is selected. */
export function tokenProtocol(offered = ''): string | undefined {
  const protocol = offered.split(',').find((one) => one.trim().startsWith(TOKEN_PREFIX));
  return protocol?.trim().slice(TOKEN_PREFIX.length) || undefined;
}

export function isServed(protocol: string): boolean {
  return SOCKET_FORMATS.some(({ subprotocol }) => subprotocol === protocol);
}

/** The close code and reason for a sub-protocol that is not served. A reason has 123 bytes at most. */
export function protocolClose(protocol: string): [code: number, reason: string] {
  const reason =
    protocol === DEPRECATED_GRAPHQL_WS_PROTOCOL
      ? 'Old sub-protocol: replace subscriptions-transport-ws by the npm package graphql-ws, which speaks graphql-transport-ws'
      : 'Subprotocol not acceptable: use graphql-transport-ws (npm package graphql-ws)';
  return [CLOSE_CODES.subprotocolNotAcceptable, reason];
}
