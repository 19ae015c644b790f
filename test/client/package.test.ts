import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, symlink, writeFile, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import typescript from 'typescript';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

const PROGRAM = `import { createClient } from 'crier/client';
import type { EventExtensions } from 'crier/client';

const client = createClient({ url: 'wss://example.org/graphql', connectionParams: (isRefused: boolean) => ({ isRefused }) });
for await (const { data, extensions } of client.iterate<{ n: number }, EventExtensions>({ query: '{ n }' })) {
  const n: number = data!.n;
  const isResumed: boolean | undefined = extensions?.resumed;
  void [n, isResumed];
}
`;

/** The sample in docs/guarantees.md, with what an application declares itself. */
async function sampleProgram(): Promise<string> {
  const [, sample] = /```ts\n(import \{ createClient \} from 'crier\/client';[^`]*)```/.exec(
    await readFile('docs/guarantees.md', 'utf8'),
  )!;
  return `${sample}
declare function token(options: { isFresh: boolean }): Promise<string>;
declare function refetch(): void;
declare function show(data: Record<string, unknown> | null | undefined): void;
`;
}

describe('crier/client as a package', () => {
  it('imports graphql-ws only, and uses no global of Node', async () => {
    const folder = join('dist', 'src', 'client');
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
      const source = await readFile(join(folder, file), 'utf8');
      for (const [, name] of source.matchAll(/\bfrom\s*['"]([^'"]+)/g))
        assert.match(name!, /^(\.\/[\w-]+\.js|graphql-ws\/client)$/);
      assert.doesNotMatch(source, /\b(process|Buffer|require|setImmediate|__dirname|import\.meta)\b|\bimport\(/);
    }
  });

  it('is imported by its name, in JavaScript and TypeScript, as docs/guarantees.md shows it', async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'node_modules'));
    await symlink(resolve('.'), join(folder, 'node_modules', 'crier'));
    await symlink(resolve('node_modules', 'graphql-ws'), join(folder, 'node_modules', 'graphql-ws'));
    const programs = { 'program.mts': PROGRAM, 'readme.mts': await sampleProgram() };
    for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text);
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '-e', "console.log(Object.keys(await import('crier/client')).join())"],
      { cwd: folder },
    );
    assert.equal(stdout.trim(), 'createClient');

    const files = Object.keys(programs).map((name) => join(folder, name));
    const compiled = typescript.createProgram(files, {
      strict: true,
      noEmit: true,
      target: typescript.ScriptTarget.ES2023,
      module: typescript.ModuleKind.NodeNext,
      moduleResolution: typescript.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
      types: [],
    });
    const complaints = typescript
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText }) => typescript.flattenDiagnosticMessageText(messageText, '\n'));
    assert.deepEqual(complaints, []);
  });
});
