import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { unknownNamesHint } from '../../src/tools/codegen/backend-names.ts';
import { scalarTypes } from '../../src/tools/codegen/scalar-types.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { checked } from '../ops/check/checked.ts';
import { startRefusal } from '../end-to-end/pod-server.ts';
import { crier } from './crier.ts';
import { refusalOf } from './refusal.ts';

const SCHEMA = 'type Subscription { a: Int @kafka(topic: "a", payload: "a") }';

describe('crier codegen', { concurrency: 2 }, () => {
  it('knows what BigInt and Long are in arguments, and in payloads and results', () => {
    const integer = { input: 'string', output: 'string | number | bigint' };
    const { BigInt, Long, Decimal, Other } = scalarTypes(['BigInt', 'Long', 'Decimal', 'Other']);
    assert.deepEqual([BigInt, Long], [integer, integer]);
    assert.deepEqual([Decimal?.input, Other], ['string | number', undefined]);
  });

  it('proposes as const where the types would not know the names of backends', async (t) => {
    const hintOf = async (code: string, file = 'context.ts') =>
      unknownNamesHint(await graphFolder(t, { [file]: code }));
    const hint =
      'context.ts: the types do not know the names of backends; write export const backends = [ … ] as const';
    assert.equal(await hintOf(`export const backends = [\n  'crm',\n];`), hint);
    for (const code of [`export const backends = ['crm'] as const;`, 'export const createLoaders = () => ({});'])
      assert.equal(await hintOf(code), undefined);
    assert.equal(await hintOf(`export const backends = ['crm'];`, 'context.js'), undefined);
  });

  it('names the command that installs what it needs, with versions', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const { code, errors } = await crier(t, ['codegen', folder]);
    assert.equal(code, 1);
    assert.match(
      errors,
      /^crier: crier codegen needs @graphql-codegen\/core, which is not installed in your project: npm install --save-dev @graphql-codegen\/core@\d\S+ @graphql-codegen\/typescript@\d\S+ @graphql-codegen\/typescript-resolvers@\d\S+\n$/,
    );
    assert.deepEqual(await readdir(folder), ['schema.graphql']);
  });

  it('names the mistake of a schema with its line, without a stack', async (t) => {
    for (const [sdl, message] of [
      ['type Subscription {\n  a Int\n}', /^schema\.graphql:2:5: Syntax Error: Expected ":"/],
      [SCHEMA.replace('Int', 'Nope'), /^schema\.graphql:1: Unknown type "Nope"/],
      [SCHEMA.replace('kafka', 'kafak'), /^schema\.graphql:1: Unknown directive "@kafak"/],
    ] as const) {
      const refusal = await refusalOf(['codegen', await graphFolder(t, { 'schema.graphql': sdl })]);
      assert.notEqual(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
  });

  it('names a folder or a schema that is absent as other commands do', async (t) => {
    const renamed = await graphFolder(t, { 'schema.gql': SCHEMA });
    for (const [folder, message] of [
      ['/nowhere', /\/nowhere: no such folder; set GRAPH to a folder that has a schema\.graphql/],
      [renamed, /schema\.graphql: not found, but schema\.gql is there; rename it to schema\.graphql/],
    ] as const) {
      const refusal = await refusalOf(['codegen', folder]);
      assert.notEqual(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
      const { hasFailed, lines } = await checked({ GRAPH: folder });
      assert.equal(hasFailed, true);
      assert.match(lines.join('\n'), message);
      assert.match(await startRefusal(t, { GRAPH: folder }), message);
    }
  });

  it('names the line of a syntax error in sources.ts, and replaces no file of the author', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'sources.ts': 'export type A = {\n  b c d\n};' });
    assert.match((await refusalOf(['codegen', folder])).message, /^sources\.ts:2: \S/);
    await writeFile(join(folder, 'types.ts'), 'export type Mine = 1;');
    const { code, errors } = await crier(t, ['codegen', folder]);
    assert.equal(code, 1);
    assert.match(errors, /types\.ts exists, and crier codegen has not written it; --out names another file/);
    assert.equal(await readFile(join(folder, 'types.ts'), 'utf8'), 'export type Mine = 1;');
  });

  it('exits with 2 for wrong arguments, and is listed with its usage', async (t) => {
    const { code, errors } = await crier(t, ['codegen', 'a', 'b']);
    assert.equal(code, 2, errors);
    assert.match(errors, /unexpected argument "b"; crier codegen takes one,/);
    for (const [args, message] of [
      [['--outt', 'x'], /^unknown option "--outt"; did you mean "--out"\?; see crier codegen --help$/m],
      [['--x=1'], /^unknown option "--x"; see crier codegen --help$/m],
      [['--out', ''], /--out: expected the name of a file/],
      [['--check', '--watch'], /--check and --watch: use one of them/],
      [['--json', '--watch'], /--json and --watch: use one of them/],
    ] as const) {
      const refusal = await refusalOf(['codegen', ...args]);
      assert.equal(refusal.code, 'ERR_USAGE');
      assert.match(refusal.message, message);
    }
    assert.match((await crier(t, ['codegen', '--help'])).output, /Usage: crier codegen \[<graph folder>\]/);
    assert.match((await crier(t, ['--help'])).output, /codegen +writes the TypeScript types/);
  });
});
