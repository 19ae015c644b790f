import type { Graph } from './graph-parts.ts';

/**
 * Why the value of a record that this process makes becomes no payload of its topic; undefined: it may. Events of an outbox may be texts, and
 * the graph's own formats and envelopes read what they like.
 */
export function recordValueProblem(
  topic: string,
  value: unknown,
  { bindings, formats, envelopes }: Pick<Graph, 'bindings' | 'formats' | 'envelopes'>,
): string | undefined {
  if (value === null) return undefined;
  if (value === undefined) return 'it has no value; write value: { … }, or value: null for a tombstone';
  if (ArrayBuffer.isView(value)) return 'its value is bytes; write the object, which crier encodes as JSON';
  const isObject = typeof value === 'object' && !Array.isArray(value);
  const readers = new Set(['OUTBOX', ...Object.keys(formats), ...Object.keys(envelopes)]);
  const isRead = [...bindings.values()].some(
    (one) => one.topics.includes(topic) && (readers.has(one.format ?? '') || readers.has(one.envelope ?? '')),
  );
  if (isObject || isRead) return undefined;
  if (Array.isArray(value)) return 'its value is a list, and a payload is an object; write a record for each item';
  if (typeof value !== 'string')
    return `its value is a ${typeof value}, and a payload is an object; write value: { … }`;
  return 'its value is a text, and a payload is an object; write the object without JSON.stringify(): crier encodes it';
}
