import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { variables } from '../src/config.ts';

const readme = readFileSync('README.md', 'utf8');

/** Cells of a table's rows, without code marks. */
function rowsOf(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

describe('README.md', () => {
  it('lists every variable with its default, unit and meaning, in the order of src/config.ts', () => {
    const expected = Object.entries(variables).map(([name, { default: fallback, unit, meaning }]) => [
      name,
      fallback,
      unit,
      meaning.replaceAll('`', ''),
    ]);
    const rows = rowsOf('Configuration').filter(([name]) => !name!.startsWith('BACKEND_<NAME>'));
    assert.deepEqual(rows, expected);
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    for (const [, name] of readme.matchAll(/npm run ([\w:]+)/g)) assert.ok(scripts[name!], `npm run ${name}`);
  });

  it('links to files that exist', () => {
    for (const [, path] of readme.matchAll(/\]\(((?!https?:|#)[^)]+)\)/g)) assert.ok(existsSync(path!), path);
  });

  it('shows the folders of src in its layout', () => {
    const layout = readme.split('\n## Layout\n')[1]!;
    for (const [, folder] of layout.matchAll(/^ {2}([\w./]+)\s/gm)) assert.ok(existsSync(`src/${folder}`), folder);
  });
});
