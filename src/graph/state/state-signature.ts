import { createHash } from 'node:crypto';
import { changeDemands } from '../change-demands.ts';
import { keysOf } from '../channel-keys.ts';
import { partsDemands } from '../parts-demands.ts';
import type { Binding } from '../schema/binding.ts';

/** Of the states in Redis. 4: a key with a schema is known by the text of its value. */
const FORMAT = 4;

/**
 * By topic: names what states its bindings keep, and where. A worker that keeps others must fill them again. Topics without states are absent.
 *
 * @param places over which the channels are spread: with others, the states of some channels are nowhere
 */
export function stateSignatures(bindings: Iterable<Binding>, places: readonly string[]): ReadonlyMap<string, string> {
  const spread = places.length > 1 ? [JSON.stringify(places.toSorted())] : [];
  const all = [...bindings];
  const kept = new Map<string, string[]>();
  for (const binding of all) {
    if (!binding.state) continue;
    const keys = keysOf(binding).map((key) => `${key.path}${'isOptional' in key && key.isOptional ? '?' : ''}`);
    const { state, envelope } = binding;
    const text = JSON.stringify([
      FORMAT,
      keys,
      state.seconds,
      binding.keys,
      ...(envelope === undefined ? [] : [envelope]),
    ]);
    for (const topic of binding.topics) kept.set(topic, [...(kept.get(topic) ?? []), text]);
  }
  for (const [topic, { key, headers }] of partsDemands(all)) {
    kept.get(topic)?.push(JSON.stringify({ key, headers: [...headers].sort() }));
  }
  for (const [topic, demand] of changeDemands(all)) kept.get(topic)?.push(JSON.stringify(demand));
  return new Map(Array.from(kept, ([topic, texts]) => [topic, signatureOf([...texts, ...spread])]));
}

function signatureOf(texts: readonly string[]): string {
  const distinct = [...new Set(texts)].sort().join('\n');
  return createHash('sha256').update(distinct).digest('hex').slice(0, 16);
}
