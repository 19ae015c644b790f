import { UNREAD } from '../../../src/kafka/decoding/decoder.ts';
import type { DecoderOptions, PayloadPlace } from '../../../src/kafka/decoding/decoder.ts';
import { snakeCaseName } from '../../../src/base/json/key-naming.ts';

type Kind = PayloadPlace['kinds'] extends ReadonlySet<infer Of> ? Of : never;

/** A place with the kinds of its values by path: `{ 'order.created_at': 'number' }`. */
export function placeOf(kinds: Readonly<Record<string, Kind>>, path: readonly string[] = []): PayloadPlace {
  const kind = kinds[path.join('.')];
  const below = new Map<string, PayloadPlace>();
  return {
    kinds: new Set(kind === undefined ? [] : [kind]),
    at(key) {
      const place = below.get(key) ?? placeBelow(kinds, [...path, key]);
      below.set(key, place);
      return place;
    },
  };
}

function placeBelow(kinds: Readonly<Record<string, Kind>>, path: readonly string[]): PayloadPlace {
  const prefix = path.join('.');
  return Object.keys(kinds).some((of) => of === prefix || of.startsWith(`${prefix}.`)) ? placeOf(kinds, path) : UNREAD;
}

export const snakeCase = snakeCaseName;
export const keep = (key: string): string => key;

/** Options of a compiler, and how many numbers became null. */
export function decoderOptions({
  nameOf = snakeCase,
  kinds = {},
  maxBytes = 100_000,
  maxDepth = 20,
}: {
  readonly nameOf?: (key: string) => string;
  readonly kinds?: Readonly<Record<string, Kind>>;
  readonly maxBytes?: number;
  readonly maxDepth?: number;
} = {}): DecoderOptions & { readonly overflows: { count: number } } {
  const overflows = { count: 0 };
  const onOverflow = () => void overflows.count++;
  return { nameOf, shape: placeOf(kinds), limits: { maxBytes, maxDepth }, onOverflow, overflows };
}
