import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RowChange } from '../../../../src/bus/row-change.ts';
import { createRouters } from '../../../../src/graph/router.ts';
import type { Binding } from '../../../../src/graph/schema/binding.ts';
import { Converter } from '../../../../src/kafka/decoding/converter.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { settled } from '../settled.ts';
import { envelopeOf } from '../../../../src/kafka/decoding/envelopes/envelopes.ts';

/** Of test/cdc/write-records.ts. */
interface Recording {
  readonly records: readonly { readonly topic: string; readonly key: string; readonly value: string | null }[];
}

/** What a connector wrote of a table. */
function recordsOf(connector: string, table: string): Recording['records'] {
  const file = join('test', 'kafka', 'fixtures', 'change-records', `${connector}.json`);
  const { records } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  return records.filter(({ topic }) => topic.endsWith(`.${table}`));
}

/** The same, as an envelope reads it. Records without a value are left out. */
function changesOf(connector: string, table: string, envelope: string): (RowChange | undefined)[] {
  const { read } = envelopeOf({ name: envelope, read: undefined });
  return recordsOf(connector, table).flatMap(({ value }) => (value === null ? [] : [read(JSON.parse(value))]));
}

/** The channels of the messages that a connector's records of a table become, by the columns that channels match. */
function channelsOf(
  connector: string,
  table: string,
  envelope: string,
  columns: readonly string[],
  hasWholeRows = false,
): string[][] {
  const bindings = columns.map((path): Binding => ({
    ...{ field: path, topics: ['t'], envelope, where: [], payload: [], isShared: true, tombstone: 'ROW' },
    match: [{ arg: path, path, isOptional: false }],
  }));
  const demand = { before: true, sourceTimestamp: false, transaction: false, isSnapshot: false };
  const envelopes = new Map([
    ['t', { envelope: envelopeOf({ name: envelope, read: undefined }), demand, hasWholeRows }],
  ]);
  const limits = { maxBytes: 100_000, maxDepth: 12 };
  const converter = new Converter(createRouters(bindings, ''), limits, new SnakeCase(), { envelopes });
  return recordsOf(connector, table).map(({ key, value }) => {
    const record = { topic: 't', key: Buffer.from(key), keyValue: JSON.parse(key) as unknown };
    const { destinations } = settled(
      converter.convert({ ...record, value: value === null ? null : Buffer.from(value) }),
    );
    return destinations!.map(({ channel }) => channel.slice(2, -1).replaceAll('"', ''));
  });
}

/** Operation, and customer of the row now and before: undefined where nothing is known. */
const summaries = (changes: readonly (RowChange | undefined)[]) =>
  changes.map((change) => change && [change.op, change.row && change.row['customer'], change.before?.['customer']]);

describe('the records that Debezium writes', () => {
  for (const connector of ['plain', 'schema']) {
    it(`have the rows now and before, of a table with REPLICA IDENTITY FULL (${connector})`, () => {
      assert.deepEqual(summaries(changesOf(connector, 'rows', 'DEBEZIUM')), [
        ['READ', 'c1', undefined],
        ['CREATE', 'c1', undefined],
        ['CREATE', 'c2', undefined],
        ['UPDATE', 'c1', 'c1'],
        ['UPDATE', 'c2', 'c1'],
        ['DELETE', null, 'c2'],
        ['CREATE', 'c2', undefined],
        ['DELETE', null, 'c2'],
        ['UPDATE', 'c1', 'c1'],
        undefined,
      ]);
    });

    it(`have no row before, of a table without it (${connector})`, () => {
      assert.deepEqual(summaries(changesOf(connector, 'keyed', 'DEBEZIUM')), [
        ['READ', 'c1', undefined],
        ['CREATE', 'c1', undefined],
        ['UPDATE', 'c1', undefined],
        ['UPDATE', 'c2', undefined],
        ['DELETE', null, null],
        ['CREATE', 'c2', undefined],
        ['DELETE', null, null],
      ]);
    });
  }

  it('have the row alone if they are flattened: of a delete the row before', () => {
    assert.deepEqual(summaries(changesOf('flat', 'rows', 'DEBEZIUM_FLAT')), [
      ['READ', 'c1', undefined],
      ['CREATE', 'c1', undefined],
      ['CREATE', 'c2', undefined],
      ['UPDATE', 'c1', undefined],
      ['UPDATE', 'c2', undefined],
      ['DELETE', null, 'c2'],
      ['CREATE', 'c2', undefined],
      ['DELETE', null, 'c2'],
      ['UPDATE', 'c1', undefined],
    ]);
    assert.deepEqual(
      summaries(changesOf('flat_schema', 'rows', 'DEBEZIUM_FLAT')),
      summaries(changesOf('flat', 'rows', 'DEBEZIUM_FLAT')),
    );
  });

  it('reach no channel of the zeros and defaults that fill a deleted row', () => {
    const columns = ['id', 'tenant', 'customer', 'status', 'maybe'];
    const row = ['id=7', 'tenant=4', 'customer=c5', 'status=PAID', 'maybe=x'];
    assert.deepEqual(channelsOf('filled', 'strict', 'DEBEZIUM', columns).slice(1), [row, ['id=7'], []]);
    assert.deepEqual(channelsOf('filled_flat', 'strict', 'DEBEZIUM_FLAT', columns).slice(1), [row, ['id=7']]);
    const moved = ['customer=c4', 'id=7', 'tenant=4', 'status=PAID', 'maybe=x', 'customer=c5'];
    assert.deepEqual(channelsOf('filled', 'strict_full', 'DEBEZIUM', columns, true).slice(1), [moved, row, []]);
    assert.deepEqual(channelsOf('filled', 'strict_full', 'DEBEZIUM', columns).slice(1), [row, ['id=7'], []]);
    assert.deepEqual(channelsOf('filled', 'indexed', 'DEBEZIUM', ['id', 'tenant', 'name', 'status']).slice(2), [
      ['id=7', 'tenant=6', 'name=b', 'status=PAID'],
      ['id=7'],
      [],
    ]);
  });

  it('have the payload of an outbox as a text or as an object', () => {
    for (const connector of ['outbox', 'outbox_expanded']) {
      assert.deepEqual(changesOf(connector, 'order', 'OUTBOX'), [{ row: { orderId: 7, status: 'NEW' } }]);
    }
  });
});
