import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UNAVAILABLE_VALUE, UnavailableValues } from '../../../src/kafka/decoding/unavailable-values.ts';

const BASE64 = 'X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==';
const BYTES = [...Buffer.from(UNAVAILABLE_VALUE)];
/** Java's UUID.nameUUIDFromBytes of the placeholder. */
const UUID = 'b68a35a7-17ad-35b3-af2a-ae46edb4545a';

/** The value of a column of each kind, as Debezium's connector for PostgreSQL writes it. */
const FORMS: Readonly<Record<string, unknown>> = {
  text: UNAVAILABLE_VALUE,
  bytes: BASE64,
  text_list: [UNAVAILABLE_VALUE],
  bytes_list: [BASE64],
  int_list: BYTES,
  uuid_list: [UUID],
  hstore: { [UNAVAILABLE_VALUE]: UNAVAILABLE_VALUE },
  hstore_as_json: `{"${UNAVAILABLE_VALUE}":"${UNAVAILABLE_VALUE}"}`,
};
/** Values that are like the placeholder. */
const OTHERS: Readonly<Record<string, unknown>> = {
  id: 7,
  none: null,
  text: `${UNAVAILABLE_VALUE} `,
  bytes: `${BASE64}=`,
  list: [],
  lists: [[UNAVAILABLE_VALUE]],
  pair: [UNAVAILABLE_VALUE, UNAVAILABLE_VALUE],
  ints: [...BYTES.slice(1), 0],
  map: { a: 1, [UNAVAILABLE_VALUE]: UNAVAILABLE_VALUE },
  empty: {},
  nested: { row: { text: UNAVAILABLE_VALUE } },
};
const values = new UnavailableValues();

describe('unavailable values', () => {
  it('finds the placeholder in each form, and nothing that is like it', () => {
    for (const [column, value] of Object.entries(FORMS)) {
      const row = { ...OTHERS, [column]: value };
      assert.deepEqual(values.columnsOf(row), [column]);
      assert.equal(values.mayBeIn(Buffer.from(JSON.stringify({ [column]: value }))), true, column);
    }
    assert.deepEqual(values.columnsOf(FORMS), Object.keys(FORMS));
    assert.deepEqual(values.columnsOf(OTHERS), []);
    assert.equal(values.mayBeIn(Buffer.from('{"id":7,"name":"__debezium","n":[95,95,100]}')), false);
  });

  it('finds it behind texts that have its rare bytes, in rows that end before other members', () => {
    const noise = { a: 'z = [', b: ['z'], c: [[95, 95]], d: 'QQ==', e: ['zium_'], f: 'debezium_unavailable' };
    const source = { sequence: '["24023128","24023128"]', name: 'z=' };
    for (const row of [noise, {}, { id: 7 }]) {
      const text = (more: object) => JSON.stringify({ after: { ...row, ...more } }).slice(0, -1);
      const mayBeIn = (more: object) =>
        values.mayBeIn(Buffer.from(`${text(more)},"source":${JSON.stringify(source)}}`), Buffer.byteLength(text(more)));
      assert.equal(mayBeIn({}), false);
      for (const [column, value] of Object.entries(FORMS)) {
        assert.equal(mayBeIn({ [column]: value }), true, column);
        assert.equal(mayBeIn({ [column]: value, ...noise }), true, column);
      }
    }
  });

  it('finds a map whose key is renamed', () => {
    assert.deepEqual(new UnavailableValues('N/A').columnsOf({ tags: { n_a: 'N/A' } }), ['tags']);
  });

  it('replaces it by the last known value, else by null', () => {
    const row = { id: 7, bio: UNAVAILABLE_VALUE, photo: BASE64, name: 'b' };
    assert.deepEqual(values.replaceIn(row, { id: 7, bio: 'long', name: 'a' }), ['bio', 'photo']);
    assert.deepEqual(row, { id: 7, bio: 'long', photo: null, name: 'b' });
    const other = { bio: UNAVAILABLE_VALUE, toString: UNAVAILABLE_VALUE };
    assert.deepEqual(values.replaceIn(other, {}), ['bio', 'toString']);
    assert.deepEqual(other, { bio: null, toString: null });
    const first = { bio: UNAVAILABLE_VALUE };
    values.replaceIn(first, undefined);
    assert.deepEqual(first, { bio: null });
    assert.deepEqual(values.replaceIn({ id: 7 }, undefined), []);
  });

  it('knows the placeholder of a connector, also in hexadecimal', () => {
    const own = new UnavailableValues('hex:61e9ff');
    const bytes = [0x61, -23, -1];
    assert.deepEqual(
      own.columnsOf({ a: Buffer.of(0x61, 0xe9, 0xff).toString('base64'), b: bytes, c: UNAVAILABLE_VALUE }),
      ['a', 'b'],
    );
    const quoted = new UnavailableValues('not "logged"');
    assert.equal(quoted.mayBeIn(Buffer.from(JSON.stringify({ a: 'not "logged"' }))), true);
    assert.deepEqual(quoted.columnsOf({ a: 'not "logged"' }), ['a']);
  });
});
