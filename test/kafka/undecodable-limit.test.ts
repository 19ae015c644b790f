import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';
import { UndecodableLimit } from '../../src/kafka/undecodable-limit.ts';
import { CHUNK_LIMITS, Chunker } from '../../src/kafka/batch.ts';
import type { Chunk, KafkaRecord } from '../../src/kafka/batch.ts';
import { convert, readableLog } from './consumer-harness.ts';

const JSON_RECORD = '{}';
const GARBAGE = '<order/>';
const TOMBSTONE = null;

/** The chunk of records with these values. */
function chunkOf(values: readonly (string | null)[], fields: Partial<KafkaRecord> = {}): Promise<Chunk> {
  const record = { topic: 'orders', partition: 0, timestamp: 0, key: null, ...fields };
  const records = values.map((value, i) => ({
    ...record,
    offset: i,
    value: value === null ? null : Buffer.from(value),
  }));
  return new Chunker(records, { convert }).take(CHUNK_LIMITS);
}

function createLimit(limit = 3) {
  const { log, lines } = readableLog();
  return { undecodable: new UndecodableLimit({ limit, log, names: ENVIRONMENT_NAMES }), lines };
}

describe('UndecodableLimit', () => {
  it('stops a topic whose first records are all undecodable, over several chunks and partitions', async () => {
    const { undecodable, lines } = createLimit();
    undecodable.count(await chunkOf([GARBAGE]));
    undecodable.count(await chunkOf([GARBAGE], { partition: 1 }));
    undecodable.check('orders');
    const last = await chunkOf([GARBAGE], { partition: 2 });
    assert.throws(() => undecodable.count(last), {
      code: 'ERR_TOPIC_STOPPED',
      message:
        'each of the first 3 records is undecodable (not_json: XML); have the producer write a JSON object, and restart; DISABLE=undecodable-limit sends them to the dead-letter topic',
    });
    assert.throws(() => undecodable.check('orders'), { code: 'ERR_TOPIC_STOPPED' });
    undecodable.check('bids');
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /"level":"?(50|error).*"topic":"orders","partition":2,"reasons":\{"not_json":1\}/);
  });

  it('counts the records before the first decodable one of a chunk', async () => {
    const { undecodable } = createLimit();
    const first = await chunkOf([GARBAGE, GARBAGE, GARBAGE, JSON_RECORD]);
    assert.throws(() => undecodable.count(first), { code: 'ERR_TOPIC_STOPPED' });
  });

  it('never stops a topic with a decodable record among the first', async () => {
    const { undecodable } = createLimit();
    undecodable.count(await chunkOf([GARBAGE, GARBAGE, JSON_RECORD, GARBAGE, GARBAGE]));
    for (let i = 0; i < 5; i++) undecodable.count(await chunkOf([GARBAGE, GARBAGE, GARBAGE]));
    undecodable.check('orders');
  });

  it('takes tombstones and records of an unreadable batch neither as decodable nor as undecodable', async () => {
    const { undecodable } = createLimit();
    undecodable.count(await chunkOf([TOMBSTONE, TOMBSTONE, TOMBSTONE, TOMBSTONE]));
    undecodable.count(await chunkOf([TOMBSTONE, TOMBSTONE, TOMBSTONE], { poison: 'batch_corrupt' }));
    undecodable.count(await chunkOf([GARBAGE, GARBAGE, TOMBSTONE]));
    undecodable.check('orders');
    const last = await chunkOf([TOMBSTONE, GARBAGE]);
    assert.throws(() => undecodable.count(last), { code: 'ERR_TOPIC_STOPPED' });
  });

  it('stops nothing with a limit of 0', async () => {
    const { undecodable } = createLimit(0);
    undecodable.count(await chunkOf(Array.from({ length: 500 }, () => GARBAGE)));
    undecodable.check('orders');
  });

  it('says what the records are that have the most frequent reason', async () => {
    const { undecodable, lines } = createLimit();
    const inString = JSON.stringify(JSON_RECORD);
    const chunk = await chunkOf([GARBAGE, inString, inString]);
    assert.throws(
      () => undecodable.count(chunk),
      /\(not_object: a JSON text inside a string, not_json\); have the producer serialize the object once/,
    );
    assert.match(lines[0]!, /"reasons":\{"not_json":1,"not_object":2\}/);
  });

  it('names what to set for records that begin like those with a schema', async () => {
    const { undecodable } = createLimit(1);
    const chunk = await chunkOf(['\0\0\0\0\u0001x']);
    assert.throws(
      () => undecodable.count(chunk),
      /\(needs_registry: Confluent's header, with schema 1\); set SCHEMA_REGISTRY_URL \(these records name their schema by its id in a registry\), and leave out format: JSON, and restart/,
    );
  });
});
