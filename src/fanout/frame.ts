/**
 * The `next` message of graphql-transport-ws is `{"id":"…","type":"next","payload":…}`. Only the id differs between
 * subscriptions that share a result, so the text before the payload is built once per subscription and the payload's once
 * per result.
 */

/** Everything before the payload; ids are any string a client may choose (quotes, escapes, lone surrogates). */
export function nextPrefix(id: string): string {
  return `{"id":${JSON.stringify(id)},"type":"next","payload":`;
}

/** The whole message. `payloadJson`: the result, as JSON text. */
export function nextMessage(prefix: string, payloadJson: string): string {
  return `${prefix}${payloadJson}}`;
}
