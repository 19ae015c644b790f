import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fold } from '../../src/tools/fold.ts';

function folded(columns: number | undefined, line: string): string {
  return fold({ columns } as NodeJS.WriteStream, line, 2);
}

describe('a line that is wider than its terminal', () => {
  it('is broken at spaces, and indented from the second line on', () => {
    assert.equal(folded(10, 'one two three four'), 'one two\n  three\n  four');
    assert.equal(folded(9, 'one two three'), 'one two\n  three');
  });

  it('keeps a word that is wider than the terminal whole', () => {
    assert.equal(folded(6, 'a longest b'), 'a\n  longest\n  b');
  });

  it('stays whole in a file or pipe, and in a terminal of unknown width', () => {
    assert.equal(folded(undefined, 'one two three'), 'one two three');
    assert.equal(folded(0, 'one two three'), 'one two three');
  });
});
