import type { KeyPlace } from '../../base/json/key-place.ts';
import type { Binding } from './binding.ts';
import type { PayloadShape } from './payload-shape.ts';

/** The place of payloads all of whose objects keep their keys. */
const KEPT: KeyPlace = { keepsKeys: true, below: new Map() };

/**
 * By topic, the place of its whole payloads: with `keys: KEEP` all objects keep their keys, else those that a field of a custom scalar
 * reads. A topic whose objects are all renamed has none.
 *
 * @param shapes by topic
 */
export function keyPlaces(
  bindings: Iterable<Binding>,
  shapes: ReadonlyMap<string, PayloadShape>,
): ReadonlyMap<string, KeyPlace> {
  const places = new Map<string, KeyPlace>();
  for (const { topics, keys } of bindings) {
    for (const topic of topics) {
      const shape = shapes.get(topic);
      const place = keys === 'KEEP' ? KEPT : shape && placeOf(shape);
      if (place) places.set(topic, place);
    }
  }
  return places;
}

/** undefined: no custom scalar is read there or below. */
function placeOf(root: PayloadShape): KeyPlace | undefined {
  const places = new Map<PayloadShape, { keepsKeys: boolean; below: Map<string, KeyPlace> }>();
  for (const shape of root.places) places.set(shape, { keepsKeys: shape.kinds.has('custom'), below: new Map() });
  // Links are added from the custom scalars upwards, until nothing is added: types may contain themselves.
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const [shape, { keepsKeys, below }] of places) {
      for (const key of keepsKeys ? [] : shape.keys) {
        const place = places.get(shape.at(key))!;
        if (below.has(key) || !(place.keepsKeys || place.below.size > 0)) continue;
        below.set(key, place);
        isChanged = true;
      }
    }
  }
  const place = places.get(root)!;
  return place.keepsKeys || place.below.size > 0 ? place : undefined;
}
