import type { SettingNames } from './setting-names.ts';

/** Of one connection, not of the message that it carries: RFC 9110, section 7.6.1. */
const OF_A_CONNECTION = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'];

/** What crier's own request to a backend says, or what its client needs: another value breaks the request or its response. */
const OF_A_REQUEST = ['accept', 'accept-encoding', 'content-length', 'content-type', 'expect', 'host', 'range'];

const OF_A_CONNECTION_OR_REQUEST = [...OF_A_CONNECTION, ...OF_A_REQUEST];

/** Of a connection, a request or a WebSocket handshake. */
const PREFIXES = ['content-', 'http2-', 'if-', 'proxy-', 'sec-websocket-'];

/** Headers in which proxies name the client. */
const OF_PROXIES =
  /^(forwarded|x-forwarded-.*|x-original-forwarded-for|x-(real|client|cluster-client)-ip|true-client-ip|cf-connecting-ip)$/;

/**
 * Why a backend cannot receive this header of the caller; undefined: it can.
 * @param name in lower case
 * @param ofAuthorization what the backend's FORWARD_AUTHORIZATION is called
 */
export function forwardingProblem(
  name: string,
  ofAuthorization: string,
  names: Pick<SettingNames, 'TRUSTED_PROXIES'>,
): string | undefined {
  const shown = JSON.stringify(name);
  // A token of RFC 9110 without "*", by which somebody would mean many headers.
  if (!/^[\w!#$%&'+.^`|~-]+$/.test(name)) return `expected names of headers, separated by commas, got ${shown}`;
  if (name === 'authorization') {
    return `${shown} has a setting of its own, which also forwards a token of connection_init: ${ofAuthorization}=true`;
  }
  if (OF_PROXIES.test(name)) {
    return `${shown} is whatever a client writes unless a proxy replaces it; let the graph send context.connection.address instead (${names.TRUSTED_PROXIES})`;
  }
  if (OF_A_CONNECTION_OR_REQUEST.includes(name) || PREFIXES.some((prefix) => name.startsWith(prefix))) {
    return `${shown} belongs to the caller's own request and is never forwarded; remove it`;
  }
  return undefined;
}
