import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { audit, createEntry, summaryOf } from './ledger.ts';
import type { Entry } from './ledger.ts';

const CLEAN = { lost: [], duplicate: [], reordered: [], corrupt: [], foreign: [] };

const a = [1, 2, 3].map((sequence) => createEntry('orders/0', sequence, `a${sequence}`));
const b = [1, 2, 3].map((sequence) => createEntry('orders/1', sequence, `b${sequence}`));
const written = [...a, ...b];

function swapped(entries: readonly Entry[], i: number, j: number): Entry[] {
  const copy = [...entries];
  [copy[i], copy[j]] = [copy[j]!, copy[i]!];
  return copy;
}

describe('audit of a ledger', () => {
  it('finds nothing when everything arrived once, in order', () => {
    assert.deepEqual(audit(written, written), CLEAN);
    assert.equal(summaryOf(audit(written, written)), '');
    assert.deepEqual(audit([], []), CLEAN);
  });

  it('lets lanes interleave in any way', () => {
    assert.deepEqual(audit(written, [a[0]!, b[0]!, b[1]!, a[1]!, b[2]!, a[2]!]), CLEAN);
  });

  it('finds lost entries: the first, the last or all', () => {
    assert.deepEqual(audit(written, written.slice(1)), { ...CLEAN, lost: ['orders/0#1'] });
    assert.deepEqual(audit(written, written.slice(0, -1)), { ...CLEAN, lost: ['orders/1#3'] });
    assert.equal(audit(written, []).lost.length, 6);
  });

  it('finds a duplicate, at once or later, and does not call it reordered', () => {
    assert.deepEqual(audit(written, [a[0]!, ...written]), { ...CLEAN, duplicate: ['orders/0#1'] });
    assert.deepEqual(audit(written, [...written, a[0]!]), { ...CLEAN, duplicate: ['orders/0#1'] });
  });

  it('finds entries that arrived after a later entry of their lane', () => {
    assert.deepEqual(audit(written, swapped(written, 0, 1)), { ...CLEAN, reordered: ['orders/0#1'] });
    assert.deepEqual(audit(written, swapped(written, 0, 2)).reordered, ['orders/0#2', 'orders/0#1']);
  });

  it('finds content that is not what was written, whatever digest came with it', () => {
    const others = written.slice(1);
    assert.deepEqual(audit(written, [{ ...a[0]!, content: 'x' }, ...others]), { ...CLEAN, corrupt: ['orders/0#1'] });
    const forged = createEntry('orders/0', 1, 'x');
    assert.deepEqual(audit(written, [forged, ...others]), { ...CLEAN, corrupt: ['orders/0#1'] });
    assert.deepEqual(audit(written, [{ ...a[0]!, digest: '' }, ...others]), { ...CLEAN, corrupt: ['orders/0#1'] });
    const late = { ...a[0]!, writtenAt: a[0]!.writtenAt + 1 };
    assert.deepEqual(audit(written, [late, ...others]), { ...CLEAN, corrupt: ['orders/0#1'] });
  });

  it('finds entries that were never written, or written for other subscribers', () => {
    assert.deepEqual(audit(a, [...a, b[0]!]), { ...CLEAN, foreign: ['orders/1#1'] });
    assert.deepEqual(audit(a, [...a, createEntry('orders/0', 4, 'a4')]), { ...CLEAN, foreign: ['orders/0#4'] });
  });

  it('finds any single fault in any ledger, and names its kind', () => {
    const faults = fc.constantFrom('lost', 'duplicate', 'reordered', 'corrupt', 'foreign');
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), fc.nat(), faults, (length, seed, fault) => {
        const entries = Array.from({ length }, (_, i) => createEntry('lane', i, `entry ${i}`));
        const at = seed % (length - 1);
        const received = faulty(entries, at, fault);
        const findings = audit(entries, received);
        for (const [kind, names] of Object.entries(findings))
          assert.equal((names as string[]).length, kind === fault ? 1 : 0);
        assert.match(summaryOf(findings), new RegExp(`^1 ${fault} \\(`));
      }),
    );
  });
});

function faulty(entries: readonly Entry[], at: number, fault: string): Entry[] {
  const entry = entries[at]!;
  switch (fault) {
    case 'lost':
      return entries.toSpliced(at, 1);
    case 'duplicate':
      return entries.toSpliced(at + 1, 0, entry);
    case 'reordered':
      return swapped(entries, at, at + 1);
    case 'corrupt':
      return entries.toSpliced(at, 1, { ...entry, content: `${entry.content}!` });
    default:
      return entries.toSpliced(at, 0, createEntry('other lane', entry.sequence, entry.content));
  }
}
