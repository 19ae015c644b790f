import type { IncomingMessage } from 'node:http';

/**
 * The body of a request as text, or undefined if it is longer than `maxBytes`. A framework of another program may have read it already:
 * Express's parsers leave it at `request.body`.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const { body } = request as { body?: unknown };
  if (body !== undefined && request.readableEnded) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return Buffer.byteLength(text) > maxBytes ? undefined : text;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
