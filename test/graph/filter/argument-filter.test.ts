import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { filterFor } from '../../../src/graph/filter/argument-filter.ts';
import type { EventFilter } from '../../../src/graph/filter/event-filter.ts';
import { FilterReaders } from '../../../src/graph/filter/filter-readers.ts';
import { OPERATORS } from '../../../src/graph/filter/filter-rule.ts';
import type { Comparison, FilterRule, Operator } from '../../../src/graph/filter/filter-rule.ts';
import { TextPayload } from '../../../src/graph/payload.ts';

function rule(op: Operator, comparison: Comparison = 'either', arg = 'x', path = 'a.b'): FilterRule {
  return { arg, path, op, comparison };
}

function filterOf(rules: readonly FilterRule[], args: Record<string, unknown>) {
  const filter = filterFor(rules, args);
  assert.ok(filter && !('errors' in filter));
  return filter;
}

/** True if a payload with this value at `a.b` passes one rule. */
function passes(op: Operator, given: unknown, value: unknown, comparison?: Comparison): boolean {
  const payload = value === undefined ? { a: {} } : { a: { b: value } };
  return filterOf([rule(op, comparison)], { x: given }).accepts({ value: payload });
}

describe('EventFilter', () => {
  it('compares equality by text, as a match does', () => {
    assert.deepEqual(
      [[7, '7'], ['7', 7], [true, 'true'], ['a', 'b'], ['7', '7.0'], ['', '']].map(([given, value]) => [passes('EQ', given, value), passes('NE', given, value)]), // prettier-ignore
      [[true, false], [true, false], [true, false], [false, true], [false, true], [true, false]], // prettier-ignore
    );
    assert.deepEqual([passes('IN', ['a', 7], 'a'), passes('IN', ['a', 7], '7'), passes('IN', ['a', 7], 'b')], [true, true, false]); // prettier-ignore
  });

  it('orders numbers, and texts that are numbers of 64 bits, exactly', () => {
    const cases: [Operator, unknown, unknown, Comparison, boolean][] = [
      ['GTE', 100, 100, 'number', true],
      ['GT', 100, 100, 'number', false],
      ['LT', 100, 99.5, 'number', true],
      ['GT', 9, '10', 'number', true],
      ['GT', 9, 'ten', 'number', false],
      ['GT', '9007199254740992', '9007199254740993', 'either', true],
      ['LTE', '9007199254740992', '9007199254740993', 'either', false],
      ['LTE', 100, 100, 'number', true],
      ['LTE', 100, 100.5, 'number', false],
      ['GT', 9007199254740993n, '9007199254740993', 'either', false],
      ['GT', '9', '10', 'either', true],
      ['GT', '9', '10', 'text', false],
      ['GTE', '2026-11-24', '2026-11-25T00:00:00Z', 'text', true],
      ['GTE', '2026-11-24', '2026-11-25T00:00:00Z', 'either', true],
      ['GTE', 'a', 5, 'text', false],
      ['GTE', 0, true, 'number', false],
    ];
    for (const [op, given, value, comparison, expected] of cases) {
      assert.equal(
        passes(op, given, value, comparison),
        expected,
        `${String(value)} ${op} ${String(given)}, ${comparison}`,
      );
    }
  });

  it('orders texts by their UTF-16 code units', () => {
    const day = '2026-11-25';
    const verdicts = (value: string) => (['LT', 'LTE', 'GT', 'GTE'] as const).map((op) => passes(op, day, value, 'text')); // prettier-ignore
    assert.deepEqual(verdicts('2026-11-24'), [true, true, false, false]);
    assert.deepEqual(verdicts(day), [false, true, false, true]);
    assert.deepEqual(verdicts('2026-11-26'), [false, false, true, true]);
    assert.equal(passes('LT', 'a', 'Z', 'text'), true);
  });

  it('refuses to search for a text of more than 256 characters, which a payload could make slow', () => {
    const search = (length: number) => filterFor([rule('CONTAINS')], { x: 'a'.repeat(length) });
    assert.ok(search(256) && !('errors' in search(256)!));
    const refused = search(257);
    assert.ok(refused && 'errors' in refused);
    assert.match(refused.errors[0]!.message, /^The argument "x" may have 256 characters$/);
    assert.equal(refused.errors[0]!.extensions['code'], 'BAD_USER_INPUT');
    const long = 'a'.repeat(257);
    assert.deepEqual([passes('EQ', long, long), passes('PREFIX', long, `${long}b`)], [true, true]);
  });

  it('finds a part of a text, its beginning, and an item of a list', () => {
    assert.deepEqual([passes('CONTAINS', 'b', 'abc'), passes('CONTAINS', 'b', 'ac')], [true, false]);
    assert.deepEqual([passes('CONTAINS', '7', [1, 7]), passes('CONTAINS', 'a', ['ab', {}, null])], [true, false]);
    assert.deepEqual([passes('PREFIX', 'ab', 'abc'), passes('PREFIX', 'b', 'abc'), passes('PREFIX', '7', 712)], [true, false, true]); // prettier-ignore
  });

  it('passes NE only where the value is absent, null, or an object', () => {
    for (const op of OPERATORS) {
      for (const value of [undefined, null, {}]) {
        assert.equal(passes(op, op === 'IN' ? ['x'] : 'x', value), op === 'NE', `${op} of ${JSON.stringify(value)}`);
      }
    }
  });

  it('restricts nothing by an argument that is absent or null', () => {
    const rules = [rule('EQ'), rule('GT', 'number', 'y', 'c')];
    assert.equal(filterFor(rules, {}), undefined);
    assert.equal(filterFor(rules, { x: null }), undefined);
    const filter = filterOf(rules, { x: null, y: 1 });
    assert.deepEqual([{ c: 2 }, { c: 1, a: { b: 'x' } }].map((value) => filter.accepts({ value })), [true, false]); // prettier-ignore
  });

  it('passes an event if all rules do', () => {
    const filter = filterOf([rule('GTE', 'number', 'min'), rule('LT', 'number', 'max')], { min: 1, max: 3 });
    assert.deepEqual([0, 1, 2, 3].map((b) => filter.accepts({ value: { a: { b } } })), [false, true, true, false]); // prettier-ignore
  });

  it('passes tombstones, and payloads that are not JSON', () => {
    const filter = filterOf([rule('EQ')], { x: 'a' });
    assert.equal(filter.accepts({ value: null }), true);
    const broken = {
      get value(): unknown {
        throw new SyntaxError('broken');
      },
    };
    assert.equal(filter.accepts(broken), true);
  });

  it('decides the same whether it reads the text of a payload or its value', () => {
    const given: Record<string, unknown> = { EQ: '7', NE: '7', IN: ['7', 'a'], CONTAINS: 'a', PREFIX: 'a' };
    const values = [
      undefined,
      null,
      7,
      '7',
      7.5,
      -0,
      1e21,
      true,
      'a',
      'ab',
      'x"a',
      '9007199254740993',
      ['a'],
      { a: 1 },
    ];
    const readers = new FilterReaders();
    for (const op of OPERATORS) {
      const rules = [rule(op, 'either', 'y', 'c'), rule(op)];
      const args = { x: given[op] ?? '7' };
      const fromText = filterFor(rules, args, readers.of(rules)) as EventFilter;
      const parsed = filterFor(rules, args) as EventFilter;
      const texts = ['null', 'no JSON', '{"a":{"b":"x","b":7}}', '{"a":[{"b":7}]}', '{"a":{"b":7.0}}'];
      for (const text of [...texts, ...values.map((b) => JSON.stringify({ a: { b } }))]) {
        const payload = () => new TextPayload(Buffer.from(text));
        assert.equal(fromText.accepts(payload()), parsed.accepts(payload()), `${op} of ${text}`);
      }
    }
  });

  it('does not parse a payload that it can read from the text', () => {
    const rules = [rule('EQ')];
    const filter = filterFor(rules, { x: 'no' }, new FilterReaders().of(rules)) as EventFilter;
    class Unparsed extends TextPayload {
      override get value(): unknown {
        throw new TypeError('parsed');
      }
    }
    // A payload that is not JSON is accepted, and reading the value of this one throws.
    assert.equal(filter.accepts(new Unparsed(Buffer.from('{"a":{"b":"yes"}}'))), false);
    assert.equal(filter.accepts(new Unparsed(Buffer.from('{"a":{"b":1.0}}'))), true);
  });

  it('refuses an empty list and a value without a text', () => {
    for (const given of [[], [{}], {}]) {
      const refusal = filterFor([rule('IN')], { x: given });
      assert.ok(refusal && 'errors' in refusal);
      assert.equal(refusal.errors[0]?.extensions['code'], 'BAD_USER_INPUT');
    }
  });

  it('compares the values of a custom scalar as they are serialized', () => {
    const scalar = { isList: false, serialize: (value: unknown) => (value as Date).toISOString() };
    const since = { ...rule('GTE'), scalar };
    const filter = filterOf([since], { x: new Date('2026-11-24T00:00:00Z') });
    const at = (b: string) => filter.accepts({ value: { a: { b } } });
    assert.deepEqual([at('2026-11-23T23:59:59.000Z'), at('2026-11-24T00:00:00.000Z')], [false, true]);
    const refusal = filterFor([since], { x: new Date(Number.NaN) });
    assert.ok(refusal && 'errors' in refusal);
  });

  it('reads own properties only', () => {
    const filter = filterOf([rule('EQ', 'either', 'x', 'constructor.name')], { x: 'Object' });
    assert.equal(filter.accepts({ value: {} }), false);
  });

  it('has equal keys exactly for equal rules and arguments', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean());
    const given = fc.record({ x: value, y: fc.array(value, { minLength: 1, maxLength: 3 }) }, { requiredKeys: ['x'] });
    const rules = fc.tuple(fc.constantFrom(...OPERATORS), fc.constantFrom('a', 'b'));
    fc.assert(
      fc.property(given, given, rules, rules, (one, other, [op, path], [otherOp, otherPath]) => {
        const keyOf = (args: typeof one, operator: Operator, at: string) =>
          filterOf([rule(operator, 'either', 'x', at), rule('IN', 'either', 'y', 'c')], args).key;
        const textsOf = ({ x, y }: typeof one) => JSON.stringify([String(x), y && [...new Set(y.map(String))]]);
        const isEqual = op === otherOp && path === otherPath && textsOf(one) === textsOf(other); // prettier-ignore
        assert.equal(keyOf(one, op, path) === keyOf(other, otherOp, otherPath), isEqual);
      }),
    );
  });
});
