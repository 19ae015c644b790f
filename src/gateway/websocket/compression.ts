import * as ws from 'ws';
import type { PerMessageDeflateOptions } from 'ws';
import { WINDOW_BITS } from '../fanout/outbox/deflater.ts';

/**
 * The answer to an offer of permessage-deflate (RFC 7692 section 7.1). The client compresses each message by itself, so an idle socket holds no
 * memory of zlib.
 */
export const COMPRESSION_OPTIONS: PerMessageDeflateOptions = { clientNoContextTakeover: true };

/** What was agreed on (RFC 7692 section 7.1.1). */
export interface CompressionParameters {
  readonly server_no_context_takeover?: boolean;
  /** Bits of the largest window that the server may use. Default: 15. */
  readonly server_max_window_bits?: number;
}

/** True if the client keeps a window of 32 KB between messages. */
export function hasContext(agreed: CompressionParameters): boolean {
  return !agreed.server_no_context_takeover && (agreed.server_max_window_bits ?? 15) === 15;
}

/** What ws 8.23 exports and its types do not name. Both throw if an offer is malformed. */
const { PerMessageDeflate, extension } = ws as unknown as {
  readonly PerMessageDeflate: new (options: object) => { accept(offers: readonly object[]): CompressionParameters };
  readonly extension: { parse(header: string): Record<string, readonly object[]> };
};

/**
 * True if the header `Sec-WebSocket-Extensions` offers compression that the server accepts. `ws` answers a malformed offer, or one that it
 * does not accept, with 400; a connection without compression is of more use to the client.
 */
export function isCompressionAcceptable(header: string | undefined): boolean {
  if (header === undefined) return false;
  try {
    const offers = extension.parse(header)['permessage-deflate'];
    if (!offers) return false;
    const { server_max_window_bits: windowBits } = new PerMessageDeflate({ isServer: true }).accept(offers);
    return windowBits === undefined || windowBits >= WINDOW_BITS;
  } catch {
    return false;
  }
}
