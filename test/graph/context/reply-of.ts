import type { BackendReply } from '../../../src/graph/context/execution-backends.ts';

/** The reply of a backend with this body. */
export function replyOf(body: unknown): BackendReply {
  return { body, text: JSON.stringify(body) };
}
