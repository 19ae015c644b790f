import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import typescript from 'typescript';
import type { CompilerOptions } from 'typescript';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installed, packAll, serverOf } from './packed.ts';
import type { Package } from './packed.ts';

const run = promisify(execFile);

const STRICT: CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  target: typescript.ScriptTarget.ES2023,
  module: typescript.ModuleKind.NodeNext,
  moduleResolution: typescript.ModuleResolutionKind.NodeNext,
};

const MAX_BYTES = 30 * 1024;

const CLIENT_PROGRAM = `import { createClient } from '@crier/client';
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

const PLUGIN_PROGRAM = `
import { transformAsync } from '@babel/core';
const source = 'export const loaders = Proxy.lazy({ a: globalThis.reads = (globalThis.reads ?? 0) + 1 });';
const { code } = await transformAsync(source, { plugins: ['@crier/babel-plugin-proxy-lazy'], configFile: false });
const { loaders } = await import('data:text/javascript,' + encodeURIComponent(code));
console.log(globalThis.reads, loaders.a, loaders.a);
`;

const SCHEMA = `type Subscription { tick: Tick @kafka(topic: "ticks") }
type Tick { n: Int, twice: Int }
`;
const RESOLVERS = `import { defineGraph } from 'crier';
export const Tick = { twice: ({ n }: { n: number }) => (defineGraph ? n * 2 : 0) };\n`;

const JEST_FOLDER_TEST = `import { startGraph } from 'crier/testing';
test('a folder', async () => {
  await expect(startGraph('./my-graph')).rejects.toThrow(/refused, as in Jest; .* defineGraph, or run the test with node:test or Vitest/);
});
`;

describe('packages', { concurrency: 2 }, () => {
  let archives: ReadonlyMap<Package, string>;
  const cleanups: (() => unknown)[] = [];
  before(async () => {
    archives = await packAll({ after: (cleanup) => void cleanups.push(cleanup) });
  });
  after(() => Promise.all(cleanups.map((cleanup) => cleanup())));

  it('@crier/client imports graphql-ws only, and uses no global of Node', async () => {
    const folder = join('dist', 'client');
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.js'))) {
      const source = await readFile(join(folder, file), 'utf8');
      for (const [, name] of source.matchAll(/\bfrom\s*['"]([^'"]+)/g))
        assert.match(name!, /^(\.\/[\w-]+\.js|graphql-ws\/client)$/);
      assert.doesNotMatch(source, /\b(process|Buffer|require|setImmediate|__dirname|import\.meta)\b|\bimport\(/);
    }
  });

  it('@crier/client installs 30 KB beside graphql-ws, and is used in JavaScript and TypeScript as the pages show it', async (t) => {
    const folder = await installed(t, archives.get('crier-client')!, 'graphql-ws', 'graphql@16');
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
      'program.mts': CLIENT_PROGRAM,
      'readme.mts': await sampleProgram(join('client', 'README.md')),
    };
    for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, name), text);
    const paths = Object.keys(programs).map((name) => join(folder, name));
    const compiled = typescript.createProgram(paths, {
      ...STRICT,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
      types: [],
    });
    const complaints = typescript
      .getPreEmitDiagnostics(compiled)
      .map(({ messageText }) => typescript.flattenDiagnosticMessageText(messageText, '\n'));
    assert.deepEqual(complaints, []);
  });

  it('@crier/babel-plugin-proxy-lazy compiles Proxy.lazy in a project that installs it beside Babel', async (t) => {
    const folder = await installed(t, archives.get('crier-babel-plugin-proxy-lazy')!, '@babel/core@7');
    await writeFile(join(folder, 'program.js'), PLUGIN_PROGRAM);
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
    assert.equal(stdout.trim(), 'undefined 1 1');
  });

  it('a clone makes a project that starts as it is printed, and crier init a graph in it that delivers an event', async (t) => {
    const folder = await temporaryFolder(t);
    const npm = (cwd: string, command: string, ...args: string[]) =>
      run('npm', [command, '--prefer-offline', '--no-audit', '--no-fund', ...args], { cwd });
    const clone = join(dirname(archives.get('crier-create')!), '..', '..');
    const { stdout: printed } = await run(process.execPath, [join(clone, 'create-crier', 'main.js'), 'app'], {
      cwd: folder,
    });
    assert.match(printed, /Next:\n\n {2}cd app\n {2}npm install\n {2}npm run dev\n/);
    const app = join(folder, 'app');
    await npm(app, 'install');
    assert.deepEqual(await readdir(join(app, 'node_modules', '@crier')), ['babel-plugin-proxy-lazy', 'client']);
    assert.match((await npm(app, 'run', '--silent', 'check')).stdout, /ok +records: the first samples fit the graph/);
    await writeFile(join(app, 'records.jsonl'), '{"reading":{"sensorId":"a","value":1.5}}\n');
    const { stdout } = await npm(app, 'exec', '--', 'crier', 'init', 'sensors', '--sample', 'records.jsonl');
    const subscription = /npx --no-install crier tail '(.*)'/.exec(stdout)![1]!;

    const main = join(app, 'node_modules', 'crier', 'dist', 'src', 'main.js');
    for (const [graph, query, expected] of [
      ['graph', 'subscription { order_updated(order_id: "1") { order_id } }', { order_updated: { order_id: '1' } }],
      ['sensors', subscription, { reading: { sensor_id: 'a', value: 1.5 } }],
    ] as const) {
      const pod = await spawnPod(t, {}, { main, folder: app, arguments: ['start', graph] }).started();
      const tail = await npm(app, 'exec', '--', 'crier', 'tail', query, '--url', pod.url, '--count', '1');
      assert.deepEqual(JSON.parse(tail.stdout), expected);
      assert.equal(await pod.stop(), 0);
    }
  });

  it('crier, installed from its archive, serves a graph of TypeScript outside of it, and brings no tool of its tests', async (t) => {
    const folder = await installed(t, ...archives.values());
    const own = join(folder, 'node_modules', '@crier', 'server');
    const files = await readdir(own, { recursive: true });
    assert.deepEqual(
      files.filter((file) => /(^|\/)(test|loadtest|stack|fixtures)\/|\.test\./.test(file)),
      [],
    );
    for (const name of ['@babel/cli', '@babel/preset-env', 'typescript', 'playwright-core', 'graphiql'])
      assert.ok(!existsSync(join(folder, 'node_modules', name)), name);

    const graph = join(folder, 'graph');
    await mkdir(graph);
    await writeFile(join(graph, 'schema.graphql'), SCHEMA);
    await writeFile(join(graph, 'resolvers.ts'), RESOLVERS);
    await writeFile(
      join(graph, 'samples.ts'),
      `export function* records() { yield { topic: 'ticks', value: { n: 1 } }; }\n`,
    );
    const { stdout } = await run(join(folder, 'node_modules', '.bin', 'crier'), ['--version'], { cwd: folder });
    assert.match(stdout, /^0\./);
    const pod = await spawnPod(t, { GRAPH: graph }, { main: join(own, 'dist', 'src', 'main.js') }).started();
    assert.equal(await pod.stop(), 0);
  });

  it('crier starts servers in a program of strict TypeScript, as docs/reference/library.md shows it', async (t) => {
    const folder = await installed(t, ...serverOf(archives), '@types/node@20');
    const samples = [
      ...(await readFile(join('docs', 'reference', 'library.md'), 'utf8')).matchAll(/```ts\n(.*?)```/gs),
    ];
    assert.ok(samples.length >= 2);
    const paths = samples.map((_, i) => join(folder, `sample-${i}.ts`));
    for (const [i, [, text]] of samples.entries()) await writeFile(paths[i]!, text!);
    const compiled = typescript.createProgram(paths, { ...STRICT, skipLibCheck: false });
    const complaints = typescript
      .getPreEmitDiagnostics(compiled)
      .filter(({ file }) => !file || !/node_modules\/(?!crier\/)/.test(file.fileName))
      .map(
        ({ messageText, file }) => `${file?.fileName}: ${typescript.flattenDiagnosticMessageText(messageText, '\n')}`,
      );
    assert.deepEqual(complaints, []);
  });

  it('crier shares the HTTP servers of Express and Fastify, as the examples show it', async (t) => {
    const folder = await installed(t, ...serverOf(archives), 'express@5', 'fastify@5');
    for (const example of ['express', 'fastify']) {
      await cp(join('examples', example), join(folder, example), { recursive: true });
      const server = spawn(process.execPath, [join(example, 'server.js')], {
        cwd: folder,
        env: { PATH: process.env['PATH'], PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => void server.kill('SIGKILL'));
      const [printed] = (await once(server.stdout, 'data')) as [Buffer];
      const url = printed.toString().trim();
      assert.equal(await (await fetch(new URL('/health', url))).text(), 'ok');
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ hello(name: "Ada") }' }),
      });
      assert.deepEqual(await response.json(), { data: { hello: 'Hello, Ada' } }, example);
      const tail = ['tail', 'subscription { ticked { n doubled } }', '--url', url, '--count', '2'];
      const { stdout } = await run(join(folder, 'node_modules', '.bin', 'crier'), tail, { cwd: folder });
      const [first, second] = stdout.split('\n').map((line) => /"n":(\d+),"doubled":(\d+)/.exec(line)!);
      assert.equal(Number(first![2]), 2 * Number(first![1]));
      assert.equal(Number(second![1]), Number(first![1]) + 1);
      server.kill('SIGTERM');
      assert.deepEqual(await once(server, 'exit'), [0, null]);
    }
  });

  it('crier/testing runs in Jest as docs/reference/library.md says, and names the fix for a graph folder', async (t) => {
    const folder = await installed(t, ...serverOf(archives), 'jest@30');
    const [, sample] = /### Jest\n[^]*?```js\n([^`]*)```/.exec(
      await readFile(join('docs', 'reference', 'library.md'), 'utf8'),
    )!;
    await mkdir(join(folder, 'my-graph'));
    const files = {
      'package.json': JSON.stringify({ private: true, type: 'module', jest: { transform: {} } }),
      'my-graph/schema.graphql': SCHEMA,
      'my-graph/resolvers.js': 'export const Tick = { twice: ({ n }) => n * 2 };\n',
      'sample.test.js': sample!,
      'folder.test.js': JEST_FOLDER_TEST,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' };
    const { stderr } = await run('npx', ['jest', '--runInBand'], { cwd: folder, env });
    assert.match(stderr, /Tests: +2 passed, 2 total/);
  });
});
