import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import typescript from 'typescript';
import { installed, packAll } from './packed.ts';

const run = promisify(execFile);

const MAX_BYTES = 30 * 1024;

const PROGRAM = `import { createClient } from '@crier/client';
import type { EventExtensions } from '@crier/client';

const client = createClient({ url: 'wss://example.org/graphql', connectionParams: (isRefused: boolean) => ({ isRefused }) });
for await (const { data, extensions } of client.iterate<{ n: number }, EventExtensions>({ query: '{ n }' })) {
  const n: number = data!.n;
  const isResumed: boolean | undefined = extensions?.resumed;
  void [n, isResumed];
}
`;

/** The sample of a page, with what an application declares itself. */
async function sampleProgram(page: string): Promise<string> {
  const [, sample] = /```ts\n(import \{ createClient \} from '@crier\/client';[^`]*)```/.exec(
    await readFile(page, 'utf8'),
  )!;
  return `${sample}
declare function token(options: { isFresh: boolean }): Promise<string>;
declare function refetch(): void;
declare function show(data: Record<string, unknown> | null | undefined): void;
`;
}

describe('@crier/client as a package', () => {
  it('imports graphql-ws only, and uses no global of Node', async () => {
    const folder = join('dist', 'client');
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
      const source = await readFile(join(folder, file), 'utf8');
      for (const [, name] of source.matchAll(/\bfrom\s*['"]([^'"]+)/g))
        assert.match(name!, /^(\.\/[\w-]+\.js|graphql-ws\/client)$/);
      assert.doesNotMatch(source, /\b(process|Buffer|require|setImmediate|__dirname|import\.meta)\b|\bimport\(/);
    }
  });

  it('installs 30 KB beside graphql-ws, and is used in JavaScript and TypeScript as the pages show it', async (t) => {
    const archive = (await packAll(t)).get('crier-client')!;
    const folder = await installed(t, archive, 'graphql-ws', 'graphql@16');
    const own = join(folder, 'node_modules', '@crier', 'client');
    const files = (await readdir(own, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    assert.ok(sizes.reduce((sum, size) => sum + size) <= MAX_BYTES, String(sizes));
    assert.deepEqual((await readdir(join(folder, 'node_modules'))).filter((name) => !name.startsWith('.')).sort(), [
      '@crier',
      'graphql',
      'graphql-ws',
    ]);

    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '-e', "console.log(Object.keys(await import('@crier/client')).join())"],
      { cwd: folder },
    );
    assert.equal(stdout.trim(), 'createClient');

    const programs = {
      'program.mts': PROGRAM,
      'readme.mts': await sampleProgram(join('client', 'README.md')),
      'guarantees.mts': await sampleProgram(join('docs', 'guarantees.md')),
    };
    for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text);
    const paths = Object.keys(programs).map((name) => join(folder, name));
    const compiled = typescript.createProgram(paths, {
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
