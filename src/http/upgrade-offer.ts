import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * False: the client offers another protocol, as Java's HttpClient and `curl --http2` offer h2c with every request. A server ignores what it
 * does not speak (RFC 9110, section 7.8), but Node passes each offer to the listeners of `upgrade`.
 */
export function isWebSocketOffer({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Serves the request as if it had offered nothing: gives it back to the server, without the offer. Node 22.21 has `shouldUpgradeCallback`. */
export function ignoreOffer(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    const value = name === 'connection' ? withoutUpgrade(rawHeaders[i + 1]!) : rawHeaders[i + 1]!;
    if (name !== 'upgrade' && name !== 'http2-settings' && value !== '') lines.push(`${rawHeaders[i]!}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function withoutUpgrade(connection: string): string {
  const isOfOffer = (option: string) => ['upgrade', 'http2-settings'].includes(option.toLowerCase());
  return connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '' && !isOfOffer(option))
    .join(', ');
}
