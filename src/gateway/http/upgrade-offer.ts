import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';

/** Of a request whose offer is ignored. Node keeps 1,000 by default. */
const MAX_HEADERS = 500;

/**
 * False: the client offers another protocol, as Java's HttpClient and `curl --http2` offer h2c with every request. A server ignores what it
 * does not speak (RFC 9110, section 7.8), but Node passes each offer to the listeners of `upgrade`.
 */
export function isWebSocketOffer({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** A server of Node 22.21, 24.9 or later: the callback decides whether the listeners of `upgrade` receive a request. */
interface DecidingServer extends Server {
  shouldUpgradeCallback: (this: Server, request: IncomingMessage) => boolean;
}

/** From 26 on Node reads the body of a request with an offer, so that crier cannot give the request back. */
const READS_BODY = Number.parseInt(process.versions.node, 10) >= 26;

/**
 * From Node 26 on: makes the server ignore offers of other protocols while crier alone listens for upgrades. Node 22 to 26 answer no later
 * request of such a connection, so the first response ends it; before, `ignoreOffer` keeps it open.
 * @returns what undoes it
 */
export function ignoreOffers(server: Server): () => void {
  if (!READS_BODY) return () => undefined;
  const deciding = server as DecidingServer;
  const { shouldUpgradeCallback: before } = deciding;
  deciding.shouldUpgradeCallback = (request) =>
    before.call(server, request) && (isWebSocketOffer(request) || server.listenerCount('upgrade') > 1);
  server.prependListener('request', endAfterOffer);
  return () => {
    deciding.shouldUpgradeCallback = before;
    server.removeListener('request', endAfterOffer);
  };
}

function endAfterOffer({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
}

/**
 * Before Node 26: serves the request as if it had offered nothing, by giving it back to the server without the offer. Goes with Node 24.
 */
export function ignoreOffer(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  // Node drops headers beyond a limit. Without those that delimit the body, the body would be read as another request.
  if (request.rawHeaders.length >= 2 * Math.min(MAX_HEADERS, server.maxHeadersCount || MAX_HEADERS)) {
    socket.end('HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n', () => socket.destroy());
    return;
  }
  // Responses to requests before it on the connection come first.
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse | null };
  if (response) return void response.once('close', () => ignoreOffer(server, request, socket, head));
  if (socket.destroyed) return;
  socket.unshift(Buffer.concat([Buffer.from(headOf(request), 'latin1'), head]));
  // Node's own listener is the first. Others have seen the connection when it was opened.
  const [serve] = server.listeners(server instanceof TlsServer ? 'secureConnection' : 'connection');
  serve?.call(server, socket);
}

/** Of a request, without its offer. */
function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const kind = name.toLowerCase();
    if (kind === 'upgrade' || kind === 'http2-settings') continue;
    const kept = kind === 'connection' ? withoutUpgrade(value) : value;
    if (kept !== '' || kind !== 'connection') lines.push(`${name}: ${kept}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function withoutUpgrade(connection: string): string {
  const isOfOffer = (option: string) => ['upgrade', 'http2-settings'].includes(option.toLowerCase());
  return connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '' && !isOfOffer(option))
    .join(', ');
}
