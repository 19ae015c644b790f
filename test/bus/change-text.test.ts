import assert from 'node:assert/strict';
import { it } from 'node:test';
import { printChange, splitChange } from '../../src/bus/change-text.ts';

const split = (text: string) => {
  const { row, change } = splitChange(Buffer.from(text));
  return { row: row.toString(), change };
};

it('takes a row and its change apart', () => {
  const change = { op: 'UPDATE', sourceTimestamp: 1_763_720_000_123, transaction: '7', isSnapshot: true } as const;
  const payload = `{"id":1,"text":"a\\nb"}${printChange(change, '{"id":1}')}`;
  assert.deepEqual(split(payload), { row: '{"id":1,"text":"a\\nb"}', change: { ...change, before: { id: 1 } } });
  assert.deepEqual(split('null\n{"op":"DELETE"}'), { row: 'null', change: { op: 'DELETE' } });
  assert.deepEqual(split('null'), { row: 'null', change: undefined });
});

it('keeps every digit of the row before, and freezes it', () => {
  const { change } = split('{"id":9007199254740993}\n{"op":"UPDATE","before":{"id":9007199254740993}}');
  assert.deepEqual(change?.before, { id: '9007199254740993' });
  assert.ok(Object.isFrozen(change?.before));
});
