import { MULTIPART } from './multipart-format.ts';
import { SSE_OF_ONE } from './sse-format.ts';
import type { StreamFormat } from './stream-format.ts';

const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/graphql-response+json',
  'application/*',
  '*/*',
]);

/**
 * The stream that an `accept` header asks for: the first of its types that the endpoint has decides, as for graphql-http. undefined: the
 * client prefers a single reply, or accepts nothing that the endpoint has.
 */
export function acceptedFormat(accept = ''): StreamFormat | undefined {
  for (const range of accept.toLowerCase().split(',')) {
    const type = range.split(';', 1)[0]!.trim();
    if (type === 'text/event-stream') return SSE_OF_ONE;
    // Without it the client wants parts of one result (@defer), which crier does not have.
    if (type === 'multipart/mixed' && range.includes('subscriptionspec=')) return MULTIPART;
    if (JSON_TYPES.has(type)) return undefined;
  }
  return undefined;
}
