import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMPILERS } from '../../../src/kafka/decoding/compilers.ts';
import { compareFields, compareWithNewest, describesRows } from '../../../src/kafka/decoding/schema-comparison.ts';
import type { SchemaType } from '../../../src/kafka/decoding/schema-registry.ts';
import type { ReadPlace } from '../../../src/kafka/decoding/schema-comparison.ts';
import type { SchemaFields } from '../../../src/kafka/decoding/decoder.ts';

/** null: a value without fields. */
interface Tree {
  readonly [key: string]: Tree | null;
}

function reads(tree: Tree | null, custom: readonly string[] = [], name = ''): ReadPlace {
  const kind = custom.includes(name) ? 'custom' : tree ? 'object' : 'text';
  return {
    kinds: new Set([kind]),
    keys: Object.keys(tree ?? {}),
    at: (key) => reads(tree?.[key] ?? null, custom, key),
  };
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
    const level = (): ReadPlace => ({ kinds: new Set(['object']), keys: ['parent', 'name'], at: level });
    assert.equal(compareFields(level(), endless).missing.length, 8);
  });

  it('names a field once where a type and its schema contain themselves, in however many fields', () => {
    const relatives = Array.from({ length: 12 }, (_, i) => `relative_${i}`);
    const read: ReadPlace = { kinds: new Set(['object']), keys: [...relatives, 'name'], at: () => read };
    const written: SchemaFields = { keys: [...relatives, 'age'], at: () => written };
    assert.deepEqual(compareFields(read, written), { missing: ['name'], unread: ['age'] });
    const flat = writes({ relative_0: { id: null } });
    assert.ok(compareFields(read, flat).missing.includes('relative_0.name'));
  });

  it('ends with types that all contain each other', () => {
    const names = Array.from({ length: 30 }, (_, i) => `t${i}`);
    const reading = new Map<string, ReadPlace>();
    const writing = new Map<string, SchemaFields>();
    for (const name of names) {
      reading.set(name, { kinds: new Set(['object']), keys: names, at: (key) => reading.get(key)! });
      writing.set(name, { keys: names, at: (key) => writing.get(key)! });
    }
    assert.deepEqual(compareFields(reading.get('t0')!, writing.get('t0')), { missing: [], unread: [] });
  });
});

describe('compareWithNewest', () => {
  const avro = (fields: readonly unknown[]) => JSON.stringify({ type: 'record', name: 'Envelope', fields });
  const columns = ['id', 'name', '__op'].map((name) => ({ name, type: 'string' }));
  const change = avro([
    { name: 'before', type: ['null', { type: 'record', name: 'Value', fields: columns }] },
    { name: 'after', type: ['null', 'Value'] },
    { name: 'op', type: 'string' },
  ]);

  const differenceOf = (text: string, envelope: string | undefined, type: SchemaType = 'AVRO') => {
    const shape = reads({ id: null, total: null });
    const compared = {
      topic: 'rows',
      shape,
      paths: [['id']],
      envelope: envelope && { name: envelope, read: undefined },
    };
    const registry = { latest: () => Promise.resolve({ type, text, references: [] }) };
    const limits = { maxBytes: 100, maxDepth: 8 };
    const options = { nameOf: (key: string) => key, shape, limits, onOverflow: () => undefined };
    return compareWithNewest(compared as never, registry, COMPILERS, options);
  };

  it('compares the rows of an envelope, without what Debezium adds', async () => {
    assert.deepEqual(await differenceOf(change, 'DEBEZIUM'), { missing: ['total'], unread: ['name'] });
    assert.deepEqual(await differenceOf(avro(columns), 'DEBEZIUM_FLAT'), { missing: ['total'], unread: ['name'] });
    assert.deepEqual((await differenceOf(change, undefined))?.unread, ['before', 'after', 'op']);
  });

  it('says where records may have what is missing: JSON that is open, and messages that others contain', async () => {
    const may = async (text: string, type: SchemaType) =>
      (await differenceOf(text, undefined, type))?.mayHaveOthers ?? false;
    const message = 'syntax = "proto3"; message Row { string name = 1; }';
    assert.equal(await may('{"properties":{"name":{}}}', 'JSON'), true);
    assert.equal(await may(`${message} message Rows { repeated Row rows = 1; }`, 'PROTOBUF'), true);
    assert.equal(await may(`${message} message Other { string name = 1; }`, 'PROTOBUF'), false);
    assert.equal(await may(avro(columns), 'AVRO'), false);
  });

  it('knows the envelopes whose rows no schema describes', () => {
    const described = (name: string, read?: () => undefined) => describesRows({ envelope: { name, read } });
    assert.ok(describesRows({}) && described('DEBEZIUM') && described('DEBEZIUM_FLAT') && described('CONNECT'));
    assert.ok(!described('MONGODB') && !described('OUTBOX') && !described('MAXWELL', () => undefined));
  });
});
