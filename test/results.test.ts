import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'node:test';

const FOLDER = 'loadtest/results';
const MAX_LINES = 200;
/** A line of a figures file is a whole row, so lines alone do not bound it. */
const MAX_BYTES = 64 * 1024;

/** Committed files, so not those of a run that has just ended. */
const filesOf = (...paths: readonly string[]) =>
  execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' })
    .trim()
    .split('\n');
const read = (path: string) => readFileSync(path, 'utf8');
const results = filesOf(FOLDER);

/** Results that a text names. `idle.json` is not named by `scenario-idle.json`. */
function namedIn(text: string): string[] {
  const words = new Set(text.match(/[\w.-]*\w/g));
  return results.filter((path) => words.has(basename(path)));
}

describe('loadtest/results', () => {
  it(`has no file of more than ${MAX_LINES} lines or ${MAX_BYTES} bytes: summaries, not single measurements`, () => {
    for (const path of results) {
      const text = read(path);
      const lines = text.split('\n').length - 1;
      assert.ok(lines <= MAX_LINES, `${path} has ${lines} lines`);
      assert.ok(Buffer.byteLength(text) <= MAX_BYTES, `${path} has ${Buffer.byteLength(text)} bytes`);
    }
  });

  it('has no file that no page, code or named result names', () => {
    const pages = filesOf('*.md', ':!loadtest/results');
    const code = filesOf('src/*.ts', 'loadtest/*.ts');
    const named = new Set([...pages, ...code].map(read).flatMap(namedIn));
    for (const path of named) for (const other of namedIn(read(path))) named.add(other);
    assert.deepEqual(
      results.filter((path) => !named.has(path)),
      [],
    );
  });
});
