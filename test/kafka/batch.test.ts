import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunksOf } from '../../src/kafka/batch.ts';
import type { KafkaRecord } from '../../src/kafka/batch.ts';
import { decode } from './consumer-harness.ts';

const record = (offset: number, value: string | null): KafkaRecord => ({
  topic: 'bids',
  partition: 0,
  offset: `${offset}`,
  timestamp: '0',
  key: null,
  value: value === null ? null : Buffer.from(value),
});

const channels = (...names: string[]) => names.map((channel) => ({ channel }));

describe('chunksOf', () => {
  it('makes a message for each channel, all with one payload text', () => {
    let serialised = 0;
    const payload = { toJSON: () => ({ serialised: ++serialised }) };
    const [chunk] = [
      ...chunksOf([record(0, '')], { decode: () => ({ payload }), route: () => channels('a', 'b', 'c') }),
    ];
    assert.deepEqual(chunk?.messages, [
      { channel: 'a', payload: '{"serialised":1}', offset: 0, timestamp: 0, history: undefined },
      { channel: 'b', payload: '{"serialised":1}', offset: 0, timestamp: 0, history: undefined },
      { channel: 'c', payload: '{"serialised":1}', offset: 0, timestamp: 0, history: undefined },
    ]);
    assert.equal(serialised, 1);
  });

  it('does not serialise what belongs to no channel', () => {
    const payload = { toJSON: () => assert.fail('serialised') };
    const chunks = [...chunksOf([record(0, '')], { decode: () => ({ payload }), route: () => [] })];
    assert.deepEqual(
      chunks.map(({ messages, poison, recordCount }) => ({ messages, poison, recordCount })),
      [{ messages: [], poison: [], recordCount: 1 }],
    );
  });

  it('sets poison aside with its reason, and a record on which the ports throw as failed', () => {
    const records = [record(0, '{}'), record(1, null), record(2, '{"a":1}'), record(3, '{"boom":1}')];
    const route = (_topic: string, payload: object) => {
      if ('boom' in payload) throw new TypeError('boom');
      return channels('c');
    };
    const [chunk] = [...chunksOf(records, { decode, route })];
    assert.deepEqual(
      chunk?.messages.map(({ payload }) => payload),
      ['{}', '{"a":1}'],
    );
    assert.deepEqual(
      chunk.poison.map(({ record: { offset }, reason }) => [offset, reason]),
      [
        ['1', 'tombstone'],
        ['3', 'failed'],
      ],
    );
    assert.equal(chunk.last.offset, '3');
  });

  it('keeps the order and every record, and ends a chunk at its bounds', () => {
    const values = fc.array(
      fc.oneof(
        fc.constant('not json'),
        fc.integer({ min: 0, max: 300 }).map((n) => `{"x":"${'y'.repeat(n)}"}`),
      ),
    );
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 500 }),
        (texts, messages, bytes) => {
          const records = texts.map((text, offset) => record(offset, text));
          const chunks = [...chunksOf(records, { decode, route: () => channels('a', 'b') }, { messages, bytes })];
          assert.equal(
            chunks.reduce((sum, { recordCount }) => sum + recordCount, 0),
            records.length,
          );
          assert.deepEqual(
            chunks.flatMap((chunk) =>
              chunk.messages.filter(({ channel }) => channel === 'a').map(({ payload }) => payload),
            ),
            texts.filter((text) => text !== 'not json'),
          );
          assert.deepEqual(
            chunks.flatMap((chunk) => chunk.poison.map((one) => one.record)),
            records.filter(({ value }) => value?.toString() === 'not json'),
          );
          if (records.length > 0) assert.equal(chunks.at(-1)?.last, records.at(-1));
          // One record may pass a bound, and ends the chunk by that: at most its two messages more.
          for (const chunk of chunks) assert.ok(chunk.messages.length + chunk.poison.length <= messages + 1);
          for (const { messages: some } of chunks) {
            assert.ok(some.slice(0, -2).reduce((sum, { payload }) => sum + payload.length, 0) < bytes);
          }
        },
      ),
    );
  });
});
