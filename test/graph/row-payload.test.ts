import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printChange } from '../../src/bus/change-text.ts';
import type { ChangeOperation } from '../../src/bus/change-text.ts';
import { channelName } from '../../src/bus/channel.ts';
import { filterFor } from '../../src/graph/filter/argument-filter.ts';
import { EventFilter } from '../../src/graph/filter/event-filter.ts';
import { TextPayload } from '../../src/graph/payload.ts';
import { headerPart, keyPathPart } from '../../src/graph/record-parts.ts';
import { RowReader } from '../../src/graph/row-payload.ts';

const COORDINATES = { epoch: 1, partition: 0, offset: 7, timestamp: 0 };
const ALL = channelName('c:', 't', [{ path: 'tenant', value: undefined }]);

function rowOf(row: object | null, op: ChangeOperation, before?: object | null, channel = ALL) {
  const suffix = printChange({ op }, before === undefined ? undefined : JSON.stringify(before));
  return new RowReader(channel).read(Buffer.from(JSON.stringify(row) + suffix), COORDINATES);
}

function atLeast(min: number): EventFilter {
  const filter = filterFor([{ arg: 'min', path: 'n', op: 'GTE', comparison: 'number' }], { min });
  assert.ok(filter instanceof EventFilter);
  return filter;
}

const HIGH = { id: 1, n: 9 };
const LOW = { id: 1, n: 1 };

describe('the outcome of a change for a filter', () => {
  const cases: [what: string, row: ReturnType<typeof rowOf>, ofFilter: string | undefined, ofAll: string][] = [
    ['a row that passes', rowOf(HIGH, 'UPDATE', LOW), 'present', 'present'],
    ['a row that passed', rowOf(LOW, 'UPDATE', HIGH), 'deleted', 'present'],
    ['a row that never passed', rowOf(LOW, 'UPDATE', LOW), undefined, 'present'],
    ['a row of which nothing else is known', rowOf(LOW, 'UPDATE'), undefined, 'present'],
    ['the delete of a row that passed', rowOf(null, 'DELETE', HIGH), 'deleted', 'deleted'],
    ['the delete of a row that did not pass', rowOf(null, 'DELETE', LOW), undefined, 'deleted'],
    ['the delete of an unknown row', rowOf(null, 'DELETE'), 'deleted', 'deleted'],
    ['the delete of a row that is null', rowOf(null, 'DELETE', null), 'deleted', 'deleted'],
    ['a tombstone', new RowReader(ALL).read(Buffer.from('null'), COORDINATES), 'deleted', 'deleted'],
    ['a row without a change', new RowReader(ALL).read(Buffer.from('{"n":9}'), COORDINATES), 'present', 'present'],
  ];
  for (const [what, row, ofFilter, ofAll] of cases) {
    it(`is ${ofFilter ?? 'nothing'} for ${what}`, () => {
      assert.deepEqual([row.outcomeFor(atLeast(5)), row.outcomeFor(undefined)], [ofFilter, ofAll]);
    });
  }
});

describe('the payload of a row', () => {
  it('is the row, and as a delete the row as it was, or null', () => {
    const row = rowOf(LOW, 'UPDATE', HIGH);
    assert.deepEqual([row.value, row.asItWas?.value, row.withoutRow.value], [LOW, HIGH, null]);
    assert.deepEqual(
      [row.change?.op, row.asItWas?.change?.op, row.withoutRow.change?.op],
      ['UPDATE', 'DELETE', 'DELETE'],
    );
    assert.deepEqual(row.asItWas?.coordinates, COORDINATES);
    assert.equal(rowOf(null, 'DELETE').asItWas, undefined);
  });

  it('has no object in common with its copy', () => {
    const row = rowOf(LOW, 'UPDATE', HIGH);
    const copy = row.copy();
    assert.deepEqual([copy.value, copy.change], [row.value, row.change]);
    assert.notEqual(copy.change?.before, row.change?.before);
    assert.ok(Object.isFrozen(copy.change?.before));
  });

  it('has no row before that was in another channel', () => {
    const channel = channelName('c:', 't', [
      { path: 'tenant', value: 'a' },
      { path: '.key', value: 'k' },
      { path: 'id', value: '9007199254740993' },
    ]);
    const before = (text: string) =>
      new RowReader(channel).read(Buffer.from(`{}\n{"op":"UPDATE","before":${text}}`), COORDINATES).change?.before;
    assert.deepEqual(before('{"tenant":"a","id":9007199254740993}'), { tenant: 'a', id: '9007199254740993' });
    assert.equal(before('{"tenant":"a","id":9007199254740992}'), undefined);
    assert.equal(before('{"tenant":"b","id":9007199254740993}'), undefined);
    assert.equal(before('{"id":9007199254740993}'), undefined);
  });

  it('has no row before in a channel that a header names, nor one of another key', () => {
    const before = (path: string, value: string | undefined, row: object) =>
      rowOf({}, 'UPDATE', row, channelName('c:', 't', [{ path, value }])).change?.before;
    assert.equal(before(headerPart('tenant'), 'b', LOW), undefined);
    assert.deepEqual(before(headerPart('tenant'), undefined, LOW), LOW);
    assert.deepEqual(before(keyPathPart('id'), '1', LOW), LOW);
    assert.equal(before(keyPathPart('id'), '2', LOW), undefined);
    assert.deepEqual(before(keyPathPart('no'), '2', LOW), LOW, 'the key names no column');
  });

  it('is the row also for a reader that knows nothing of changes', () => {
    const payload = new TextPayload(Buffer.from(`{"id":1}${printChange({ op: 'UPDATE' })}`));
    assert.deepEqual([payload.value, payload.isDeletion], [{ id: 1 }, false]);
    assert.deepEqual(new TextPayload(Buffer.from(`{"id":1}${printChange({ sourceTimestamp: 5 })}`)).value, { id: 1 });
    const gone = new TextPayload(Buffer.from(`null${printChange({ op: 'DELETE' })}`));
    assert.deepEqual([gone.value, gone.isDeletion], [null, true]);
    assert.deepEqual(new TextPayload(Buffer.from('null')).isDeletion, true);
    for (const text of ['{"id":1}\n7', '{"id":1}\n{', 'nul', 'nullx']) {
      let reports = 0;
      const broken = new TextPayload(Buffer.from(text), () => reports++);
      for (let i = 0; i < 2; i++) assert.throws(() => broken.value, SyntaxError);
      assert.deepEqual([reports, broken.isDeletion], [1, false], text);
    }
  });

  it('has no change where another program wrote it, which is reported', () => {
    let reports = 0;
    const row = new RowReader(ALL).read(Buffer.from('{"id":1}\n{"op":'), COORDINATES, () => reports++);
    assert.deepEqual([row.value, row.change, reports], [{ id: 1 }, undefined, 1]);
  });
});
