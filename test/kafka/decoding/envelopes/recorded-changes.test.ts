import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RowChange } from '../../../../src/bus/row-change.ts';
import { envelopeOf } from '../../../../src/kafka/decoding/envelopes/envelopes.ts';

/** Of test/cdc/write-records.ts. */
interface Recording {
  readonly records: readonly { readonly topic: string; readonly value: string | null }[];
}

/** What a connector wrote of a table, as an envelope reads it. Records without a value are left out. */
function changesOf(connector: string, table: string, envelope: string): (RowChange | undefined)[] {
  const file = join('test', 'kafka', 'fixtures', 'change-records', `${connector}.json`);
  const { records } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
  const { read } = envelopeOf({ name: envelope, read: undefined });
  return records
    .filter(({ topic, value }) => topic.endsWith(`.${table}`) && value !== null)
    .map(({ value }) => read(JSON.parse(value!)));
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

  it('have the payload of an outbox as a text or as an object', () => {
    for (const connector of ['outbox', 'outbox_expanded']) {
      assert.deepEqual(changesOf(connector, 'order', 'OUTBOX'), [{ row: { orderId: 7, status: 'NEW' } }]);
    }
  });
});
