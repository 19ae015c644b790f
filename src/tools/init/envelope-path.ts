import type { Place } from './place.ts';

const MAX_WRAPPERS = 3;

/**
 * The path to what records are about: below an envelope of Debezium its `after`, else below objects that have one key, and an object in it.
 * Other envelopes are not guessed: a path leaves out what is beside it.
 */
export function payloadPath(root: Place): readonly string[] {
  const below = root.keys.get('payload');
  if (isChange(root)) return ['after'];
  if (below && isChange(below)) return ['payload', 'after'];
  const path: string[] = [];
  for (let place = root; path.length < MAX_WRAPPERS;) {
    const [[key, inner] = []] = place.isObject ? place.usableKeys : [];
    if (place.keys.size !== 1 || !inner?.isObject || inner.values < place.values) return path;
    path.push(key!);
    place = inner;
  }
  return path;
}

/** https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events */
function isChange(place: Place): boolean {
  const { keys } = place;
  return place.isObject && keys.has('before') && keys.has('op') && keys.has('source') && !!keys.get('after')?.isObject;
}

export function placeAt(root: Place, path: readonly string[]): Place {
  return path.reduce((place, key) => place.keys.get(key)!, root);
}
