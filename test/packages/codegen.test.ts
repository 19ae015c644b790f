import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import typescript from 'typescript';
import { GENERATOR_PACKAGES } from '../../src/tools/codegen/generator-packages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { install } from './packed.ts';

const MAIN = resolve('dist/src/main.js');
const GRAPH = join('test', 'packages', 'fixtures', 'typed-graph');

/** Of `npm create @crier`'s tsconfig.json, and stricter. */
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
  target: typescript.ScriptTarget.ES2023,
  module: typescript.ModuleKind.NodeNext,
  moduleResolution: typescript.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  types: ['node'],
  typeRoots: [resolve('node_modules', '@types')],
  paths: {
    crier: [resolve('src/library/crier.ts')],
    'crier/graph': [resolve('src/library/graph.ts')],
    graphql: [resolve('node_modules/graphql')],
    '@crier/client': [resolve('client/client.ts')],
  },
};

/** What the compiler says of files of the graph. */
function complaintsAbout(folder: string, names: readonly string[]): string[] {
  const program = typescript.createProgram(
    names.map((name) => join(folder, name)),
    STRICT,
  );
  return typescript
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => !file || file.fileName.startsWith(folder))
    .map(({ messageText, file }) => `${file?.fileName}: ${typescript.flattenDiagnosticMessageText(messageText, '\n')}`);
}

describe('crier codegen with GraphQL Code Generator', () => {
  /** A project that has installed the generator. */
  let project: string;
  const cleanups: (() => unknown)[] = [];
  before(async () => {
    project = await temporaryFolder({ after: (cleanup) => void cleanups.push(cleanup) });
    await install(project, ...Object.entries(GENERATOR_PACKAGES).map(([name, version]) => `${name}@${version}`));
  });
  after(() => Promise.all(cleanups.map((cleanup) => cleanup())));

  const crier = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, ...args], { cwd: project });

  /** A copy of the graph in the project. */
  async function copied(): Promise<string> {
    const folder = await mkdtemp(join(project, 'graph-'));
    await cp(GRAPH, folder, { recursive: true });
    return folder;
  }

  it('writes types by which resolvers of every form compile, and mistakes do not', async () => {
    const folder = await copied();
    const { stdout } = await crier('codegen', folder);
    assert.equal(stdout, `written: ${join(folder, 'types.ts')}\n`);
    assert.deepEqual(complaintsAbout(folder, ['types.ts', 'context.ts', 'resolvers.ts', 'mistakes.ts']), []);
    const checked = (await crier('check', folder).catch((error: { stdout: string }) => error)).stdout;
    assert.match(checked, /^ok +graph: /m);
    assert.doesNotMatch(checked, /is not loaded/);
  });

  it('finds the types of the sample graph current, in the project of the working directory', async () => {
    const { stdout } = await crier('codegen', resolve('examples/auction'), '--check');
    assert.match(stdout, /types\.ts is current\n$/);
  });

  it('names types of the schema whose names are those of its own', async () => {
    const folder = await mkdtemp(join(project, 'graph-'));
    const fields = ['Resolvers', 'ResolversTypes', 'Order', 'OrderResolvers'].map((name) => [
      `type ${name} { n: Int }`,
      `${name}: ${name} @kafka(topic: "${name}")`,
    ]);
    const schema = `type Subscription { ${fields.map(([, field]) => field).join(' ')} } ${fields.map(([type]) => type).join(' ')}`;
    await writeFile(join(folder, 'schema.graphql'), schema);
    await assert.rejects(crier('codegen', folder), {
      code: 1,
      stderr:
        "crier: schema.graphql: types are named ResolversTypes, OrderResolvers, Resolvers, as crier codegen names the types of resolvers; give the schema's another name\n",
    });
  });

  it('exits with 1 where --check finds other types, and writes nothing', async () => {
    const folder = await copied();
    const out = join(folder, 'generated.ts');
    await crier('codegen', folder, '--out', out);
    const before = await readFile(out, 'utf8');
    await writeFile(join(folder, 'schema.graphql'), 'type Subscription { a: Int @kafka(topic: "a", payload: "a") }');
    await assert.rejects(crier('codegen', folder, '--out', out, '--check'), {
      code: 1,
      stderr: `crier: ${out} is not what the schema says; run crier codegen ${folder} --out ${out}\n`,
    });
    assert.equal(await readFile(out, 'utf8'), before);
  });

  it('prints JSON: the file and its outcome, also of --check, and what the types do not know', async () => {
    const folder = await copied();
    const file = join(folder, 'types.ts');
    const outcome = async (...args: string[]) => {
      const { stdout, code } = await crier('codegen', folder, '--json', ...args).then(
        ({ stdout: text }) => ({ stdout: text, code: 0 }),
        (error: { stdout: string; code: number }) => error,
      );
      return { code, ...(JSON.parse(stdout) as object) };
    };
    assert.deepEqual(await outcome('--check'), { code: 1, file, outcome: 'outdated', warnings: [] });
    assert.deepEqual(await outcome(), { code: 0, file, outcome: 'written', warnings: [] });
    assert.deepEqual(await outcome(), { code: 0, file, outcome: 'current', warnings: [] });
    assert.deepEqual(await outcome('--check'), { code: 0, file, outcome: 'current', warnings: [] });
    await writeFile(join(folder, 'context.ts'), `export const backends = ['crm'];`);
    const hint =
      'context.ts: the types do not know the names of backends; write export const backends = [ … ] as const';
    assert.deepEqual(((await outcome()) as { warnings?: unknown }).warnings, [hint]);
  });

  it('writes them again when the schema changes under --watch, and goes on after a mistake', async (t) => {
    const folder = await copied();
    const watching = spawn(process.execPath, [MAIN, 'codegen', folder, '--watch'], { cwd: project });
    t.after(() => void watching.kill('SIGKILL'));
    let output = '';
    watching.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await waitFor('the watch', () => output.includes('watching'));
    await writeFile(join(folder, 'schema.graphql'), 'type Subscription {');
    await waitFor('the mistake', () => output.includes('schema.graphql:1:20: Syntax Error'));
    await writeFile(join(folder, 'schema.graphql'), 'type Subscription { a: Int @kafka(topic: "a", payload: "a") }');
    await waitFor('the types', () => output.split('written: ').length === 3);
    assert.match(await readFile(join(folder, 'types.ts'), 'utf8'), /^ {2}readonly a\?: Maybe</m);
    await writeFile(join(folder, 'schema.graphql'), 'type Subscription {');
    await waitFor('the mistake again', () => output.split('Syntax Error').length === 3);
    assert.doesNotMatch(output, /is current/);
    await writeFile(join(folder, 'schema.graphql'), 'type Subscription { a: Int @kafka(topic: "a", payload: "a") }');
    await waitFor('the fix', () => output.includes('types.ts is current'));
    watching.kill('SIGINT');
    assert.deepEqual(await once(watching, 'exit'), [0, null]);
  });
});
