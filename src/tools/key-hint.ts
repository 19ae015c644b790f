import { didYouMean } from '../base/did-you-mean.ts';
import { snakeCaseName } from '../base/json/key-naming.ts';

/** Keys that are looked at. */
const MAX_KEYS = 500;
const MAX_LEVELS = 8;

/** `; did you mean "data.orderId"?` where a record has no key at `path`; '' if no field of it is meant. */
export function keyHint(value: unknown, path: readonly string[]): string {
  const paths = scalarPaths(value);
  const last = snakeCaseName(path.at(-1)!);
  const below = `${path.join('.')}.`;
  const meant =
    paths.find((one) => snakeCaseName(one.at(-1)!) === last) ?? paths.find((one) => one.join('.').startsWith(below));
  if (meant) return `; did you mean "${meant.join('.')}"?`;
  return didYouMean(
    path.join('.'),
    paths.map((one) => one.join('.')),
  );
}

/** The paths of texts, numbers and booleans in objects, the outermost first. Without keys that `--key` cannot name. */
function scalarPaths(root: unknown): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  let left = MAX_KEYS;
  let objects = [{ path: [] as readonly string[], value: root }];
  for (let level = 0; level < MAX_LEVELS && objects.length > 0; level++) {
    const inner: typeof objects = [];
    for (const { path, value } of objects) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
      for (const key in value) {
        if (left-- <= 0) return paths;
        if (key === '' || key.includes('.')) continue;
        const field = { path: [...path, key], value: (value as Record<string, unknown>)[key] };
        if (typeof field.value === 'object') inner.push(field);
        else paths.push(field.path);
      }
    }
    objects = inner;
  }
  return paths;
}
