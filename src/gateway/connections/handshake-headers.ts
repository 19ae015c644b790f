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

/** Headers that may hold the token, which is not kept. Node bounds all headers of a request (`--max-http-header-size`, 16 KB). */
const OF_CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/** Bytes of the headers of an upgrade that do not hold credentials. */
export function headerBytes(rawHeaders: readonly string[]): number {
  // Node reads header bytes as Latin-1.
  return rawHeaders.reduce(
    (bytes, text, i) => bytes + (OF_CREDENTIALS.has(rawHeaders[i - (i % 2)]!.toLowerCase()) ? 0 : text.length),
    0,
  );
}

/** The first header of this name, which is in lower case. */
export function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.toLowerCase() === name) return rawHeaders[i + 1];
  return undefined;
}
