import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { installHint, PROGRAMS } from '../deploy/programs.ts';
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
    assert.equal(readme.match(/^\| `BACKEND_<NAME>_\w+`/gm)?.length, 2);
  });

  it('opens the pods of docker-compose.yml on their ports', () => {
    const ports = [...readFileSync('docker-compose.yml', 'utf8').matchAll(/:-(\d+)\}:4000'/g)].map(([, port]) => port);
    const [row] = readme.match(/^.*docker compose up.*$/m)!;
    assert.deepEqual(
      [...row.matchAll(/localhost:(\d+)/g)].map(([, port]) => port),
      ports,
    );
  });

  it('names the Debian packages that are installed where they are missing', () => {
    assert.ok(readme.includes(`\`${installHint(PROGRAMS).split('--no-install-recommends ')[1]}\``));
  });

  it('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    for (const [, name] of readme.matchAll(/npm run ([\w:-]+)/g)) assert.ok(scripts[name!], `npm run ${name}`);
  });

  it('links to files that exist', () => {
    for (const [, path] of readme.matchAll(/\]\(((?!https?:|#)[^)]+)\)/g)) assert.ok(existsSync(path!), path);
  });

  it('shows the folders of src in its layout', () => {
    const layout = readme.split('\n## Layout\n')[1]!;
    for (const [, folder] of layout.matchAll(/^ {2}([\w./]+)\s/gm)) assert.ok(existsSync(`src/${folder}`), folder);
    for (const [, folder] of layout.matchAll(/^(\w+\/)\s/gm)) assert.ok(existsSync(folder!), folder);
  });
});
