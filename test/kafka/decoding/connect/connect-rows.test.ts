import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseExactly } from '../../../../src/base/json/exact-numbers.ts';
import { compileAvro } from '../../../../src/kafka/decoding/avro/avro.ts';
import { ConnectSchemas } from '../../../../src/kafka/decoding/connect/connect-schemas.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { decoderOptions } from '../schema-decoders.ts';

/**
 * One row of the schema classes of Debezium 3.7.0, as two converters write it: JsonConverter of Kafka Connect 4.1.0, with each `decimal.format`, and the
 * Avro converter of Apicurio Registry 2.6.13, which is Confluent's.
 */
const FOLDER = join(import.meta.dirname, '../../../../../test/kafka/decoding/fixtures');
const read = (name: string) => readFile(join(FOLDER, name), 'utf8');

const ROW = {
  id: 7,
  price: '-0.1032',
  rounded: '1200',
  amount: '99999999999999999999.50',
  day: '1969-12-31',
  opens_at: '24:00:00',
  ticks: '02:07:50.123456789',
  created_at: '1969-12-31T23:59:59.999Z',
  changed_at: '2026-11-24T02:07:50.123456Z',
  exact_at: '2026-11-24T02:07:50.123456789Z',
  zoned_at: '2026-11-24T02:07:50.5Z',
  span: '-PT1.500S',
  period: 'P1Y2M3DT4H5M6.78S',
  made: 2026,
  iso_day: '2026-11-24',
  iso_time: '02:07:50.5',
  iso_at: '2026-11-24T02:07:50.5Z',
  flags: '000100000101',
  key: '0123abcd-4567-89ab-cdef-0123456789ab',
  size: 'm',
  tags: 'a,b',
  doc: { user_id: '9007199254740993', ok: true },
  place: { x: 1.5, y: -2, wkb: 'AQEAAAAAAAAAAAD4PwAAAAAAAADA', srid: null },
  connect_day: '2026-11-24',
  connect_time: '02:07:50.123',
  connect_at: '2026-11-24T02:07:50.123Z',
  days: ['1970-01-01', null, '2026-11-24'],
  amounts: ['1.5'],
  prices: { ch: '12.50' },
  vector: [0.5, 2],
};
const OPTIONS = { kinds: { doc: 'object', place: 'object' } } as const;

async function jsonRow(name: string): Promise<unknown> {
  const { payload, convert } = new ConnectSchemas(decoderOptions(OPTIONS)).split(Buffer.from(await read(name)))!;
  return new SnakeCase().convertObjToSnakeKeys(convert!(parseExactly(payload.toString())));
}

async function avroRow(options: Parameters<typeof decoderOptions>[0]): Promise<Record<string, unknown>> {
  const decoder = compileAvro(await read('connect-row.avsc'), [], decoderOptions(options));
  return decoder.decode(Buffer.from(await read('connect-row.hex'), 'hex'));
}

describe('a row of Debezium', () => {
  it('is the same JSON from JSON with schemas and from Avro', async () => {
    assert.deepEqual(await jsonRow('connect-row.json'), ROW);
    assert.deepEqual(await jsonRow('connect-row-numeric.json'), ROW);
    assert.deepEqual(await avroRow(OPTIONS), ROW);
  });

  it('has numbers where Int or Float reads them', async () => {
    const row = await avroRow({ kinds: { amount: 'number', day: 'number', changed_at: 'number', iso_at: 'number' } });
    assert.deepEqual(
      [row['amount'], row['day'], row['changed_at'], row['iso_at']],
      ['99999999999999999999.50', -86_400_000, 1_795_486_070_123.456, 1_795_486_070_500],
    );
  });

  it('has the struct of a decimal where an object is read, and the text of JSON where a text is', async () => {
    const kinds = { amount: 'object', doc: 'text' } as const;
    const { amount, doc } = await avroRow({ kinds });
    assert.deepEqual(amount, { scale: 2, value: 'Ah4Z4Mm6sj//zg==' });
    assert.equal(doc, '{"userId": 9007199254740993, "ok": true}');
  });

  it('has the fields of a struct where an object reads it, and any in JSON', async () => {
    const { fields } = compileAvro(await read('connect-row.avsc'), [], decoderOptions(OPTIONS));
    assert.deepEqual(fields.at('place')?.keys, ['x', 'y', 'wkb', 'srid']);
    assert.deepEqual(fields.at('amount')?.keys, ['scale', 'value']);
    assert.equal(fields.at('doc')!.keys, undefined);
    assert.equal(fields.at('day'), undefined);
  });

  it('keeps the keys of JSON in a custom scalar', async () => {
    const { doc } = await avroRow({ kinds: { doc: 'custom' } });
    assert.deepEqual(doc, { userId: '9007199254740993', ok: true });
  });
});
