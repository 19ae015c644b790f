import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeOf } from './change.ts';
import { applyMutant, mutantsOf } from './mutants.ts';
import { recordReach } from './reach.ts';

/** `kind: source with the change`, in source order. */
function mutationsOf(source: string): string[] {
  return mutantsOf('src/x.ts', source).mutants.map((mutant) => `${mutant.kind}: ${applyMutant(source, mutant)}`);
}

describe('mutants of a source', () => {
  it('shift each bound and invert each comparison', () => {
    assert.deepEqual(mutationsOf('a < b;'), ['comparison: a <= b;', 'comparison: a >= b;']);
    assert.deepEqual(mutationsOf('a === b;'), ['equality: a !== b;']);
  });

  it('replace each condition by true and by false', () => {
    assert.deepEqual(mutationsOf('if (a) b;'), ['condition: if (true) b;', 'condition: if (false) b;']);
    assert.deepEqual(mutationsOf('a ? b : c;'), ['condition: true ? b : c;', 'condition: false ? b : c;']);
    assert.deepEqual(mutationsOf('while (a) b;'), ['condition: while (false) b;']);
    assert.deepEqual(mutationsOf('!a;'), ['negation: a;']);
  });

  it('swap a logical operator and drop each of its operands', () => {
    assert.deepEqual(mutationsOf('a && b;'), ['dropped operand: a;', 'dropped operand: b;', 'logic: a || b;']);
    assert.deepEqual(mutationsOf('a ?? b;'), ['logic: (a && b);', 'dropped operand: a;', 'dropped operand: b;']);
    assert.ok(mutationsOf('a || ((b ?? c) && d);').includes('dropped operand: a || ((b ?? c));'));
  });

  it('remove calls, assignments and deletions that stand alone', () => {
    assert.deepEqual(mutationsOf('f();'), ['removed call: ;']);
    assert.deepEqual(mutationsOf('void f();'), ['removed call: ;']);
    assert.deepEqual(mutationsOf('a = b;'), ['removed assignment: ;']);
    assert.deepEqual(mutationsOf('delete a.b;'), ['removed deletion: ;']);
    assert.deepEqual(mutationsOf('const a = f();'), []);
  });

  it('change arithmetic, but do not subtract text', () => {
    assert.deepEqual(mutationsOf('x(a + b);'), ['removed call: ;', 'arithmetic: x(a - b);']);
    assert.deepEqual(mutationsOf("const a = 'b' + c;"), []);
    assert.deepEqual(mutationsOf('const a = (b + c) * d;'), [
      'arithmetic: const a = (b - c) * d;',
      'arithmetic: const a = (b + c) / d;',
    ]);
  });

  it('change booleans and small numbers, but no types', () => {
    assert.deepEqual(mutationsOf('const a = true;'), ['boolean: const a = false;']);
    assert.deepEqual(mutationsOf('const a = [0, 1, 60_000];'), [
      'number: const a = [1, 1, 60_000];',
      'number: const a = [0, 0, 60_000];',
    ]);
    assert.deepEqual(mutationsOf('type A = true | 1; const a = b as 0; interface C { d: false }'), []);
  });

  it('empty functions, catch and finally blocks and loops', () => {
    assert.ok(mutationsOf('function f() { a(); b(); }').includes('emptied function: function f() {}'));
    assert.ok(mutationsOf('for (const a of b) { c(); }').includes('emptied loop: for (const a of b) {}'));
    const block = mutationsOf('try { a(); } catch { b(); } finally { c(); }');
    assert.ok(block.includes('emptied catch: try { a(); } catch {} finally { c(); }'));
    assert.ok(block.includes('emptied finally: try { a(); } catch { b(); } finally {}'));
  });

  it('are deterministic and in source order', () => {
    const source = 'function f(a?: { b: number }) { if (a?.b === 1 && a.b < 2) return; f(); }\n';
    const { mutants } = mutantsOf('src/x.ts', source);
    assert.deepEqual(mutantsOf('src/x.ts', source).mutants, mutants);
    const starts = mutants.map(({ start }) => start);
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
    );
    assert.ok(mutants.every((mutant) => applyMutant(source, mutant) !== source));
  });

  it('are shown as lines, with the number of the first one', () => {
    const source = 'a();\n  b(\n    c,\n  );\nd();\n';
    const mutant = mutantsOf('src/x.ts', source).mutants[1]!;
    assert.deepEqual(changeOf(source, mutant), { line: 2, before: ['b(', 'c,', ');'], after: [] });
  });

  it('know their enclosing function, which an instrumented source reports', () => {
    const source = 'const a = 1;\nfunction f() { const g = () => { a(); }; return () => b(2); }\n';
    const parsed = mutantsOf('src/x.ts', source);
    const byChange = Object.fromEntries(
      parsed.mutants.map((mutant) => [changeText(source, mutant), mutant.functionIndex]),
    );
    assert.equal(byChange['1'], -1);
    assert.equal(byChange['2'], 0);
    assert.equal(byChange['a();'], 1);
    const marked = recordReach('src/x.ts', source, parsed, '/tmp/reached');
    assert.match(marked, /function f\(\) \{ reached__\(0\);.*=> \{ reached__\(1\); {2}a\(\); \}/);
  });
});

function changeText(source: string, { start, end }: { start: number; end: number }): string {
  return source.slice(start, end);
}
