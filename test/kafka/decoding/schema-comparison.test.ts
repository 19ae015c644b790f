import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareFields } from '../../../src/kafka/decoding/schema-comparison.ts';
import type { ReadPlace } from '../../../src/kafka/decoding/schema-comparison.ts';
import type { SchemaFields } from '../../../src/kafka/decoding/decoder.ts';

/** null: a value without fields. */
interface Tree {
  readonly [key: string]: Tree | null;
}

function reads(tree: Tree | null, custom: readonly string[] = [], name = ''): ReadPlace {
  const kind = custom.includes(name) ? 'custom' : tree ? 'object' : 'text';
  return { kinds: new Set([kind]), keys: Object.keys(tree ?? {}), at: (key) => reads(tree![key]!, custom, key) };
}

function writes(tree: Tree | 'map' | null): SchemaFields | undefined {
  if (tree === null) return undefined;
  if (tree === 'map') return { keys: undefined, at: () => undefined };
  return { keys: Object.keys(tree), at: (key) => writes(tree[key] ?? null) };
}

describe('compareFields', () => {
  it('names the paths of fields that only one of the two has', () => {
    const read = reads({ id: null, total: { cents: null, currency: null } });
    const written = writes({ id: null, note: null, total: { cents: null, tax: null } });
    assert.deepEqual(compareFields(read, written), { missing: ['total.currency'], unread: ['note', 'total.tax'] });
  });

  it('names what is read below a value without fields, and an object of which nothing is read', () => {
    const read = reads({ total: { cents: null } });
    assert.deepEqual(compareFields(read, writes({ total: null, meta: { by: null } })), {
      missing: ['total.cents'],
      unread: ['meta'],
    });
  });

  it('compares nothing below a map, a custom scalar and an eighth level', () => {
    assert.deepEqual(compareFields(reads({ a: null }), writes('map')), { missing: [], unread: [] });
    assert.deepEqual(compareFields(reads({ json: null }, ['json']), writes({ json: { a: null } })), {
      missing: [],
      unread: [],
    });
    const endless: SchemaFields = { keys: ['parent'], at: () => endless };
    const person: ReadPlace = { kinds: new Set(['object']), keys: ['parent', 'name'], at: () => person };
    assert.equal(compareFields(person, endless).missing.length, 8);
  });
});
