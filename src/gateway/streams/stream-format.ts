import type { MessageFormat } from '../connections/message-format.ts';

/** How a stream of results over HTTP looks. */
export interface StreamFormat extends MessageFormat {
  /** As a metric label. */
  readonly name: 'sse' | 'multipart' | 'catch_up';
  readonly contentType: string;
  /** Follows the headers at once: some proxies hold headers back until the first byte of a body. */
  readonly opening: string;
  /** Keeps proxies from closing an idle stream. Clients ignore it. */
  readonly ping: string;
  /** The end of a stream that the server closes before its operations are over. @param code as on the WebSocket */
  closing(code: number, reason: string): string;
}
