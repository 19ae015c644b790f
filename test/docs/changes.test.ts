import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';

const PAGE = 'docs/why/architecture.md';
/** Folders in which a change of code leaves something. */
const FOLDERS = ['src', 'client', 'deploy'];

interface Change {
  readonly name: string;
  /** What a change of this kind added once. */
  readonly example: string;
  /** Files and folders of `FOLDERS` that the row names. */
  readonly paths: readonly string[];
}

const changes = readFileSync(PAGE, 'utf8')
  .split('## Changes and what they touch')[1]!
  .split('\n')
  .flatMap((line): Change[] => {
    const [, name, example, files] = /^\| (.+?) +\| `(.+?)` +\| (.+) \|$/.exec(line) ?? [];
    if (files === undefined) return [];
    const linked = [...files.matchAll(/\]\((?:\.\.\/)+([^)#]+)/g)].map(([, path]) => path!);
    return [{ name: name!, example: example!, paths: linked.filter((path) => FOLDERS.includes(path.split('/')[0]!)) }];
  });
const texts = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
)
  .filter((path) => /\.(ts|lua|json|yaml)$/.test(path) && !path.includes('node_modules'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

describe(`the changes of ${PAGE}`, () => {
  it('are read', () => assert.ok(changes.length >= 15));

  for (const { name, example, paths } of changes) {
    it(`name the files that a change of this kind touched: ${name}`, () => {
      const touched = texts.filter(({ text }) => text.includes(example)).map(({ path }) => path);
      const isBelow = (path: string, above: string) => path === above || path.startsWith(`${above}/`);
      const unnamed = touched.filter((path) => !paths.some((above) => isBelow(path, above)));
      assert.deepEqual(unnamed, [], 'touched, but not in the row');
      const untouched = paths.filter((above) => !existsSync(above) || !touched.some((path) => isBelow(path, above)));
      assert.deepEqual(untouched, [], 'in the row, but not touched');
    });
  }
});
