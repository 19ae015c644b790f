import type { SubscribePayload } from 'graphql-ws';
import type { EventSource } from '../../graph/event-source.ts';
import { textWeight, weightOf } from '../../base/json/weight.ts';

/** Overhead of an operation beside what is counted, in bytes. */
const BYTES_PER_OPERATION = 1024;

/** What a channel takes beside its name, in bytes; the first one of an operation is in its overhead. */
const BYTES_PER_FURTHER_CHANNEL = 512;

/** What a live operation keeps beside its source, in bytes. */
export function operationWeight(variables: unknown): number {
  return BYTES_PER_OPERATION + weightOf(variables);
}

/** What an operation keeps until its document is prepared, in bytes. */
export function requestWeight({ query, variables, extensions }: SubscribePayload, documentId: string | undefined) {
  return operationWeight(variables) + textWeight(query) + textWeight(documentId ?? '') + weightOf(extensions);
}

/** What an operation keeps for its source, in bytes. */
export function sourceWeight(source: EventSource): number {
  if ('events' in source) return source.pubsub?.waitingBytes ?? 0;
  let bytes =
    textWeight(source.sharingKey ?? '') +
    2 * textWeight(source.filter?.key ?? '') +
    (source.channels.length - 1) * BYTES_PER_FURTHER_CHANNEL;
  // The bus keeps the name, too.
  for (const channel of source.channels) bytes += 2 * textWeight(channel);
  return bytes;
}
