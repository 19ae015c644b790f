import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { changeOf } from './change.ts';
import { EQUIVALENTS, equivalentOf } from './equivalents.ts';
import { mutantsOf } from './mutants.ts';

describe('the list of equivalent mutants', () => {
  it('names only mutants that its source files still have', () => {
    const gone = new Set(EQUIVALENTS);
    for (const file of new Set(EQUIVALENTS.map((entry) => entry.file))) {
      const source = readFileSync(file, 'utf8');
      for (const mutant of mutantsOf(file, source).mutants) {
        const entry = equivalentOf(mutant, changeOf(source, mutant));
        if (entry) gone.delete(entry);
      }
    }
    assert.deepEqual([...gone], []);
  });

  it('names each mutant once', () => {
    const names = EQUIVALENTS.map(({ file, before, after }) => [file, before, after].join('\n'));
    assert.deepEqual(
      names.filter((name, i) => names.indexOf(name) !== i),
      [],
    );
  });
});
