import type { Place } from './place.ts';

const MAX_WRAPPERS = 3;

/** The path to what records are about: below objects that have one key, and an object in it. A path leaves out what is beside it. */
export function payloadPath(root: Place): readonly string[] {
  const path: string[] = [];
  for (let place = root; path.length < MAX_WRAPPERS;) {
    const [[key, inner] = []] = place.isObject ? place.usableKeys : [];
    if (place.keys.size !== 1 || !inner?.isObject || inner.values < place.values) return path;
    path.push(key!);
    place = inner;
  }
  return path;
}

export function placeAt(root: Place, path: readonly string[]): Place {
  return path.reduce((place, key) => place.keys.get(key)!, root);
}
