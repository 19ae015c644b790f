import { DEPRECATED_GRAPHQL_WS_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL } from 'graphql-ws';
import { CLOSE_CODES } from '../connections/close-codes.ts';

/**
 * Chooses among the sub-protocols that a client offers. The one of subscriptions-transport-ws is accepted, too, and closed at once: a browser
 * tells its page nothing of a handshake that selects none.
 */
export function selectProtocol(offered: ReadonlySet<string>): string | false {
  const known = [GRAPHQL_TRANSPORT_WS_PROTOCOL, DEPRECATED_GRAPHQL_WS_PROTOCOL];
  return known.find((protocol) => offered.has(protocol)) ?? false;
}

export function isServed(protocol: string): boolean {
  return protocol === GRAPHQL_TRANSPORT_WS_PROTOCOL;
}

/** The close code and reason for a sub-protocol that is not served. A reason has 123 bytes at most. */
export function protocolClose(protocol: string): [code: number, reason: string] {
  const reason =
    protocol === DEPRECATED_GRAPHQL_WS_PROTOCOL
      ? 'Old sub-protocol: replace subscriptions-transport-ws by the npm package graphql-ws, which speaks graphql-transport-ws'
      : 'Subprotocol not acceptable: use graphql-transport-ws (npm package graphql-ws)';
  return [CLOSE_CODES.subprotocolNotAcceptable, reason];
}
