import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MaskedErrors } from '../../../src/graph/execution/masked-errors.ts';
import { UnfitResultError } from '../../../src/graph/execution/unfit-result.ts';
import { logLines } from '../../bus/log-lines.ts';

function create() {
  const { log, lines } = logLines();
  const state = { now: 0, count: 0, lines };
  const errors = new MaskedErrors({ log, onMasked: () => state.count++, now: () => state.now });
  const report = (field: string | undefined, error: unknown = new Error('boom')) => errors.report(error, field, ['a']);
  return { state, report };
}

describe('MaskedErrors', () => {
  it('gives errors of one field within 10 s one id and one line, and counts each', () => {
    const { state, report } = create();
    const ids = Array.from({ length: 1000 }, () => report('Order.total'));
    assert.equal(new Set(ids).size, 1);
    assert.match(ids[0]!, /^[0-9a-f-]{36}$/);
    assert.equal(state.count, 1000);
    assert.equal(state.lines.length, 1);
    const { errorId, field, path, suppressed, err } = state.lines[0]!;
    assert.deepEqual(
      { errorId, field, path, suppressed },
      { errorId: ids[0], field: 'Order.total', path: ['a'], suppressed: 0 },
    );
    assert.match((err as { stack: string }).stack, /Error: boom\n {4}at /);
  });

  it('leads with the field and the fix, without a stack, where a value does not fit the schema', () => {
    const { state, report } = create();
    const errorId = report('Order.items', new UnfitResultError('Abstract type', 'write a "__typename"'));
    const [line] = state.lines;
    assert.deepEqual(
      [line!['problems'], line!['errorId'], line!['field'], line!['err']],
      [['write a "__typename"'], errorId, 'Order.items', undefined],
    );
    assert.match(String(line!['msg']), /^a value does not fit the schema: clients receive null/);
  });

  it('begins a window with a new id after 10 s, and says how many errors the last one suppressed', () => {
    const { state, report } = create();
    const first = report('Order.total');
    state.now = 9_999;
    assert.equal(report('Order.total'), first);
    state.now = 10_000;
    const second = report('Order.total');
    assert.notEqual(second, first);
    assert.deepEqual(
      state.lines.map(({ errorId, suppressed }) => [errorId, suppressed]),
      [
        [first, 0],
        [second, 1],
      ],
    );
  });

  it('distinguishes fields, classes of errors, and errors without a field', () => {
    const { state, report } = create();
    const ids = [
      report('A.a'),
      report('A.b'),
      report('A.a', new TypeError('boom')),
      report(undefined),
      report('A.a', 'text'),
    ];
    assert.equal(new Set(ids).size, 5);
    assert.equal(state.lines.length, 5);
  });

  it('remembers 1,000 windows and forgets the oldest', () => {
    const { state, report } = create();
    const first = report('field 0');
    for (let i = 1; i < 1000; i++) report(`field ${i}`);
    assert.equal(report('field 0'), first);
    report('field 1000');
    assert.notEqual(report('field 0'), first);
    assert.equal(state.lines.length, 1002);
  });
});
