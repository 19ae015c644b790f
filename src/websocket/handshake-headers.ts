/** Headers of the WebSocket handshake itself (RFC 6455): they tell nothing about the client. */
const OF_HANDSHAKE: ReadonlySet<string> = new Set([
  'connection',
  'upgrade',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
]);

/** The headers of an upgrade that a connection keeps. Names and values alternate, as in `IncomingMessage.rawHeaders`. */
export function clientHeaders(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => !OF_HANDSHAKE.has(rawHeaders[i - (i % 2)]!.toLowerCase()));
}

export function headerBytes(rawHeaders: readonly string[]): number {
  // Node reads header bytes as Latin-1.
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0);
}
