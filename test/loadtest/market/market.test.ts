import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';
import { Interests } from '../../../loadtest/market/load/interests.ts';
import { readLedgerEntry } from '../../../loadtest/market/load/ledger-entry.ts';
import { Market, TOPICS, laneOf } from '../../../loadtest/market/load/market.ts';

const OPTIONS = { seed: 5, auctions: 40, zipfExponent: 1 };

function payloadOf(value: string): { data: Record<string, Record<string, unknown>> } {
  const event = new SnakeCase().convertObjToSnakeKeys(JSON.parse(value) as object) as Record<
    string,
    Record<string, unknown>
  >;
  return { data: event };
}

describe('Market', () => {
  it('writes the same records for the same seed', () => {
    const records = (seed: number) => {
      const market = new Market({ ...OPTIONS, seed });
      return Array.from({ length: 50 }, (_, i) => market.next(1000 + i));
    };
    assert.deepEqual(records(5), records(5));
    assert.notDeepEqual(records(5), records(6));
  });

  it('writes records of 0.5 to 20 KB to all topics, small ones more often', () => {
    const market = new Market(OPTIONS);
    const records = Array.from({ length: 1000 }, () => market.next(1));
    const sizes = records.map(({ value }) => Buffer.byteLength(value)).sort((a, b) => a - b);
    assert.ok(sizes[0]! >= 450 && sizes[0]! < 700, `${sizes[0]}`);
    assert.ok(sizes[999]! > 18_000 && sizes[999]! < 20_600, `${sizes[999]}`);
    assert.ok(sizes[500]! > 2500 && sizes[500]! < 4500, `${sizes[500]}`);
    assert.equal(new Set(records.map(({ topic }) => topic)).size, TOPICS.length);
  });

  it('numbers the records of each lane without gaps, in one partition', () => {
    const market = new Market(OPTIONS);
    const latest = new Map<number, { sequence: number; partition: number }>();
    for (const { value, partition } of [...market.marks(1), ...Array.from({ length: 500 }, () => market.next(2))]) {
      const { lane, sequence } = readLedgerEntry(payloadOf(value))!;
      const before = latest.get(lane) ?? { sequence: 0, partition };
      assert.deepEqual({ sequence, partition }, { sequence: before.sequence + 1, partition: before.partition });
      latest.set(lane, { sequence, partition });
    }
    assert.equal(latest.size, market.laneCount);
    assert.deepEqual(
      market.sequences,
      Array.from({ length: market.laneCount }, (_, lane) => latest.get(lane)!.sequence),
    );
  });

  it('has a mark for every lane of every subscription', () => {
    const interests = new Interests(OPTIONS);
    const lanes = new Set(interests.next(500).flatMap((interest) => interest.lanes));
    assert.ok(Math.max(...lanes) < new Market(OPTIONS).laneCount);
    assert.equal(laneOf(2, 39, 40), new Market(OPTIONS).laneCount - 1);
  });
});

describe('Interests', () => {
  it('are the same for the same seed, with several fields, documents and selections', () => {
    assert.deepEqual(new Interests(OPTIONS).next(100), new Interests(OPTIONS).next(100));
    const queries = new Set(new Interests(OPTIONS).next(500).map(({ query }) => query));
    assert.ok(queries.size >= 8, `${queries.size}`);
  });

  it('have equal keys only for equal query and variables', () => {
    const byName = new Map<string, string>();
    for (const { name, query, variables } of new Interests(OPTIONS).next(500)) {
      const what = JSON.stringify([query, variables]);
      assert.equal(byName.get(name) ?? what, what);
      byName.set(name, what);
    }
    assert.equal(new Set(byName.values()).size, byName.size);
  });
});

describe('readLedgerEntry', () => {
  const payload = payloadOf(new Market(OPTIONS).next(1234).value);

  it('reads the entry of a result, and rejects a corrupt entry, a corrupt description and an error', () => {
    const [field, event] = Object.entries(payload.data)[0]!;
    const spoiled = (changes: object) => ({ data: { [field]: { ...event, ...changes } } });
    assert.equal(readLedgerEntry(payload)!.producedAt, 1234);
    for (const what of [
      spoiled({ description: `${String(event['description'])}x` }),
      spoiled({ entry: { ...(event['entry'] as object), sequence: 999 } }),
      spoiled({ entry: null }),
      { data: { [field]: null } },
      { errors: [{ message: 'no' }], data: payload.data },
      undefined,
    ])
      assert.equal(readLedgerEntry(what), undefined);
    assert.ok(readLedgerEntry(spoiled({ description: undefined })), 'a description that was not selected');
  });
});
