import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { compileGraph, prepareGraph } from '../../../src/graph/loading/compile.ts';
import { GraphLoader, loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../support/graph-folder.ts';

const SCHEMA = 'type Subscription { a: Lot @kafka(topic: "a") } type Lot { title: String where: String }';

interface Outcome {
  readonly backends: readonly string[] | undefined;
  /** Processes that the load has started. */
  readonly processes: number;
}

/** Loads a graph whose context's backends tell what it has imported. */
async function load(t: TestContext, files: Record<string, string>): Promise<Outcome> {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, ...files });
  let processes = 0;
  const count = () => void processes++;
  subscribe('child_process', count);
  try {
    const { context } = await loadGraph(folder);
    return { backends: context.backends, processes };
  } finally {
    unsubscribe('child_process', count);
  }
}

const message = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('the graph was accepted'),
    (error: Error) => error.message,
  );

describe('modules that run as they are written', () => {
  it('are loaded without a process, with what they import, recursively and in a circle', async (t) => {
    const outcome = await load(t, {
      'context.js': `
        import { join } from 'node:path';
        import lodash from 'lodash';
        import { one } from './lib/one.js';
        export { authenticate } from './lib/two.mjs';
        export * from './lib/two.mjs';
        export const backends = [join('a', 'b'), lodash.upperFirst('c'), one(), import.meta.url.split('/').at(-1)];`,
      'lib/one.js': `import { two } from './two.mjs'; export const one = () => two;`,
      'lib/two.mjs': `import '../context.js'; export const two = 'two'; export const authenticate = () => ({});`,
      'resolvers.mjs': `export const Lot = { title: () => 'x' };`,
    });
    assert.deepEqual(outcome, { backends: ['a/b', 'C', 'two', 'context.js'], processes: 0 });
  });

  it('need no process where there are none', async (t) => {
    assert.deepEqual(await load(t, {}), { backends: undefined, processes: 0 });
  });

  const compiled: Record<string, Record<string, string>> = {
    'with Proxy.lazy': { 'context.js': `export const backends = [Proxy.lazy({ get: 'x' }).get];` },
    'that is TypeScript': { 'context.ts': `export const backends: string[] = ['x'];` },
    'that imports TypeScript': {
      'context.js': `import { x } from './x.js'; export const backends = [x];`,
      'x.ts': `export const x: string = 'x';`,
    },
    'that imports such a module': {
      'context.js': `export * from './between.mjs';`,
      'between.mjs': `import { x } from './x.ts'; export const backends = [x];`,
      'x.ts': `export const x: string = 'x';`,
    },
    'beside a module in TypeScript': {
      'context.js': `export const backends = ['x'];`,
      'resolvers.ts': `export const Lot = { title: (): string => 'x' };`,
    },
    'that imports JSON': {
      'context.js': `import x from './x.json' with { type: 'json' }; export const backends = [x];`,
      'x.json': '"x"',
    },
    'that imports dynamically': {
      'context.js': `export const backends = [(await import('./x.js')).x];`,
      'x.js': `export const x = 'x';`,
    },
    'with a source map': { 'context.js': `export const backends = ['x'];\n//# sourceMappingURL=context.js.map` },
  };
  for (const [title, files] of Object.entries(compiled)) {
    it(`do not include one ${title}: Babel compiles the folder, in a process`, async (t) => {
      assert.deepEqual(await load(t, files), { backends: ['x'], processes: 1 });
    });
  }

  const mistakes: Record<string, Record<string, string>> = {
    'a syntax error that the lexer does not find': { 'context.js': 'export const a = 1;\nconst b = ;' },
    'a syntax error that it finds': { 'context.js': 'export const a = 1;\nconst b = "' },
    'a syntax error behind an import': {
      'context.js': `export * from './lib/deep.js';`,
      'lib/deep.js': 'export const a = 1;\nconst b = ;',
    },
    'syntax errors of two files, and a module that throws before them': {
      'resolvers.js': 'throw new Error("here");',
      'context.js': 'export const a = ;',
      'samples.js': '\nexport const b = ;',
    },
    'an import that leads nowhere': { 'context.js': `\nimport { a } from './nowhere.js';\nexport { a };` },
    'a re-export of what is not declared': { 'context.js': 'export { nothing };' },
  };
  for (const [title, files] of Object.entries(mistakes)) {
    it(`are refused with Babel’s message: ${title}`, async (t) => {
      const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, ...files });
      const entries = ['resolvers.js', 'context.js', 'samples.js'].filter((name) => name in files);
      const expected = await message(
        compileGraph(
          folder,
          entries.map((name) => join(folder, name)),
          false,
        ),
      );
      assert.match(expected, /\.js:\d+: /);
      assert.equal(await message(loadGraph(folder)), expected);
    });
  }

  const failures: Record<string, [text: string, expected: RegExp]> = {
    'one that throws': ['\n\nthrow new Error("boom");', /^resolvers\.js:3: boom; resolvers\.js could not be loaded$/],
    'an import that has no such name': [
      `import { absent } from './x.js';\nexport { absent };`,
      /^resolvers\.js:1: imports "absent" from "\.\/x\.js", which does not export it; it exports: nothing$/,
    ],
    'a package that is not installed': ['import "absent-here";', /^resolvers\.js: imports the package "absent-here", /],
  };
  for (const [title, [text, expected]] of Object.entries(failures)) {
    it(`are refused as compiled ones are: ${title}`, async (t) => {
      const refusal = async (resolvers: string) => {
        const files = { 'schema.graphql': SCHEMA, 'resolvers.js': resolvers, 'x.js': '' };
        const folder = await graphFolder(t, files);
        return (await message(loadGraph(folder))).replaceAll(folder, '');
      };
      const plain = await refusal(text);
      assert.match(plain, expected);
      assert.equal(plain, await refusal(`${text} // lazy`));
    });
  }

  it('are loaded again after a change, and after a mistake that was corrected', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'context.js': `export * from './x.js';` });
    const write = (text: string) => writeFile(join(folder, 'x.js'), text);
    const loader = new GraphLoader(folder);
    await write(`export const backends = ['one'];`);
    const first = await loader.load();
    assert.deepEqual(first?.context.backends, ['one']);
    assert.equal(await loader.load(first.revision), undefined);
    await write(`\nexport const backends = ;`);
    assert.match(await message(loader.load(first.revision)), /^x\.js:2: Unexpected token/);
    await write(`export const backends = ['two'];`);
    const second = await loader.load(first.revision);
    assert.deepEqual(second?.context.backends, ['two']);
    assert.notEqual(second.revision, first.revision);
  });

  it('have the digest of their texts, whatever the folder is called', async (t) => {
    const digest = async (text: string) => {
      const folder = await graphFolder(t, { 'context.js': `export * from './x.js';`, 'x.js': text });
      return (await prepareGraph(folder, [join(folder, 'context.js')], false)).digest;
    };
    assert.equal(await digest('export const a = 1;'), await digest('export const a = 1;'));
    assert.notEqual(await digest('export const a = 1;'), await digest('export const a = 2;'));
  });
});
