import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KafkaRecord, PoisonRecord } from '../../../src/kafka/batch.ts';
import { deadRecord, groupsOf, withoutBody } from '../../../src/kafka/dead-letter/dead-record.ts';

function poison(parts: Partial<KafkaRecord>): PoisonRecord {
  const record = { topic: 'bids', partition: 3, offset: 7, timestamp: 1, key: null, value: null, ...parts };
  return { record, reason: 'not_json' };
}

const bytes = (length: number) => Buffer.alloc(length, 'x');
const omissions = ({ headers }: { headers: object }) =>
  Object.keys(headers).filter((name) => name.endsWith('-omitted'));

describe('deadRecord', () => {
  it('copies the buffers, which are slices of a fetch response', () => {
    const response = Buffer.from('keyvalueheader');
    const { key, value, headers } = deadRecord(
      poison({ key: response.subarray(0, 3), value: response.subarray(3, 8), headers: { a: response.subarray(8) } }),
    );
    response.fill('-');
    assert.deepEqual([key, value, headers['a']].map(String), ['key', 'value', 'header']);
  });

  it('writes a header without a value as an empty one, because kafkajs cannot write null', () => {
    const nothing = null as unknown as Buffer;
    const { headers } = deadRecord(poison({ headers: { one: nothing, two: [nothing, bytes(1)] } }));
    assert.deepEqual([headers['one'], headers['two']], ['', ['', bytes(1)]]);
  });

  it('says in a header what the record is, also without its body', () => {
    const record = deadRecord(poison({ value: Buffer.from('[{}') }));
    assert.equal(record.headers['crier-found'], 'JSON that is cut off or malformed');
    assert.equal(withoutBody(record).headers['crier-found'], 'JSON that is cut off or malformed');
    assert.ok(!('crier-found' in deadRecord(poison({ poison: 'batch_corrupt' })).headers));
  });

  it('omits the value first, then the headers, then the key', () => {
    const headers = { a: bytes(400_000) };
    assert.deepEqual(omissions(deadRecord(poison({ key: bytes(100_000), headers, value: bytes(499_999) }))), []);
    assert.deepEqual(omissions(deadRecord(poison({ key: bytes(100_000), headers, value: bytes(500_000) }))), [
      'crier-value-omitted',
    ]);
    assert.deepEqual(omissions(deadRecord(poison({ key: bytes(600_000), headers, value: bytes(1) }))), [
      'crier-value-omitted',
      'crier-headers-omitted',
    ]);
    assert.deepEqual(omissions(deadRecord(poison({ key: bytes(1_000_001), headers, value: null }))), [
      'crier-headers-omitted',
      'crier-key-omitted',
    ]);
  });

  it('has no digest of a value that could not be read', () => {
    const { headers } = deadRecord(poison({ poison: 'batch_corrupt' }));
    assert.deepEqual(Object.keys(headers).sort(), [
      'crier-key-omitted',
      'crier-offset',
      'crier-partition',
      'crier-reason',
      'crier-timestamp',
      'crier-topic',
      'crier-value-omitted',
    ]);
  });
});

describe('withoutBody', () => {
  it('keeps the headers of crier, and names the omitted parts', () => {
    const whole = deadRecord(poison({ key: bytes(1), value: bytes(1), headers: { a: 'b', 'crier-topic': 'mine' } }));
    const { key, value, headers } = withoutBody(whole);
    assert.deepEqual([key, value], [null, null]);
    assert.equal(headers['crier-topic'], 'bids');
    assert.equal(headers['crier-original-topic'], undefined);
    assert.deepEqual(omissions({ headers }), ['crier-value-omitted', 'crier-headers-omitted', 'crier-key-omitted']);
  });
});

describe('groupsOf', () => {
  const sizes = (...lengths: number[]) =>
    [
      ...groupsOf(
        lengths.map((length) => poison({ value: bytes(length) })),
        ({ record }) => record,
      ),
    ].map(({ length }) => length);

  it('ends a group before it exceeds 1 MB, counting 1,000 extra bytes per record', () => {
    assert.deepEqual(sizes(499_000, 499_000), [2]);
    assert.deepEqual(sizes(499_000, 499_001), [1, 1]);
    assert.deepEqual(sizes(...Array.from({ length: 2500 }, () => 1500)), [400, 400, 400, 400, 400, 400, 100]);
  });

  it('yields no empty group, even next to a record that exceeds a group', () => {
    assert.deepEqual(sizes(), []);
    assert.deepEqual(sizes(5_000_000, 5_000_000, 1), [1, 1, 1]);
  });

  it('counts keys and headers', () => {
    const one = poison({ key: bytes(200_000), headers: { a: [bytes(150_000), bytes(150_000)] } });
    assert.deepEqual(
      [...groupsOf([one, one], ({ record }) => record)].map(({ length }) => length),
      [1, 1],
    );
  });
});
