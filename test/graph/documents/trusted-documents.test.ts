import assert from 'node:assert/strict';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { buildSchema } from 'graphql';
import { ConfigError } from '../../../src/base/errors.ts';
import { DocumentReader } from '../../../src/graph/documents/document-reader.ts';
import { TrustedDocuments } from '../../../src/graph/documents/trusted-documents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const SCHEMA = buildSchema('type Query { a: Int b: Int }');
const POLL_INTERVAL_MS = 20;

const write = async (path: string, manifest: unknown) => {
  await writeFile(`${path}.draft`, typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  await rename(`${path}.draft`, path);
};

function open(t: TestContext, path: string) {
  const changes: (string | undefined)[] = [];
  const trusted = new TrustedDocuments({
    setting: 'TRUSTED_DOCUMENTS',
    path,
    reader: new DocumentReader(SCHEMA, { hasIntrospection: true }),
    onChange: (refusal) => changes.push(refusal),
    pollIntervalMs: POLL_INTERVAL_MS,
  });
  t.after(() => trusted.close());
  return { trusted, changes };
}

/** Trusted documents over a file of this test's own. */
async function stage(t: TestContext, manifest: unknown) {
  const path = join(await temporaryFolder(t), 'persisted-documents.json');
  if (manifest !== undefined) await write(path, manifest);
  return { path, ...open(t, path) };
}

describe('TrustedDocuments', () => {
  it('follows each change of the file', async (t) => {
    const { trusted, path, changes } = await stage(t, { a: '{ a }', b: '{ b }' });
    await trusted.start();
    assert.deepEqual([trusted.size, trusted.textOf('a'), trusted.textOf('b')], [2, '{ a }', '{ b }']);
    await write(path, { a: '{ a }', c: '{ a b }' });
    await waitFor('the change', () => trusted.textOf('c'));
    assert.deepEqual([trusted.size, trusted.textOf('b')], [2, undefined]);
    assert.deepEqual(changes, [undefined]);
  });

  it("follows Kubernetes's replacement of a ConfigMap, which replaces a symbolic link above the file", async (t) => {
    const folder = await temporaryFolder(t);
    const mount = async (version: string, manifest: object) => {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'documents.json'), JSON.stringify(manifest));
      await symlink(version, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await mount('..1', { a: '{ a }' });
    await symlink(join('..data', 'documents.json'), join(folder, 'documents.json'));
    const { trusted } = open(t, join(folder, 'documents.json'));
    await trusted.start();
    await mount('..2', { b: '{ b }' });
    await rm(join(folder, '..1'), { recursive: true });
    await waitFor('the change', () => trusted.textOf('b'));
    assert.equal(trusted.textOf('a'), undefined);
  });

  const bad: readonly (readonly [what: string, manifest: unknown, message: RegExp])[] = [
    ['missing', undefined, /^there is no file .*documents\.json$/],
    ['not JSON', '{ "a": "hunter2', /documents\.json: not JSON/],
    ['without documents', {}, /documents\.json: it has no documents$/],
    [
      'that of another graph',
      { x: '{ x }', y: '{ y }' },
      /: this graph can run none of its 2 documents; of x: Cannot query field "x"/,
    ],
    [
      'with the SHA-256 of another document',
      { ['0'.repeat(64)]: '{ a }' },
      /: "0{64}" is not the SHA-256 of its document/,
    ],
    ['too large', `{ "a": "${'x'.repeat(16 * 1024 * 1024)}" }`, /: 16777227 bytes, and at most 16777216 are read$/],
  ];
  for (const [what, manifest, message] of bad) {
    it(`refuses the start if the file is ${what}`, async (t) => {
      const { trusted } = await stage(t, manifest);
      await assert.rejects(trusted.start(), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, /^TRUSTED_DOCUMENTS: .*; expected a JSON file with documents by id, such as/);
        assert.match(error.message.replace(/^TRUSTED_DOCUMENTS: /, '').split('; expected a JSON file')[0]!, message);
        assert.ok(!error.message.includes('hunter2'));
        return true;
      });
      assert.equal(trusted.size, 0);
    });

    it(`changes nothing and says why once if the file becomes one that is ${what}`, async (t) => {
      const { trusted, path, changes } = await stage(t, { a: '{ a }' });
      await trusted.start();
      if (manifest === undefined) await rm(path);
      else await write(path, manifest);
      await waitFor('the refusal', () => changes.length === 1);
      assert.match(changes[0]!, message);
      assert.equal(trusted.textOf('a'), '{ a }');
      await write(path, { b: '{ b }' });
      await waitFor('the change', () => trusted.textOf('b'));
      assert.equal(changes.length, 2);
    });
  }

  it('names the documents that the graph cannot run, and trusts them', async (t) => {
    const deep = `${'{ a'.repeat(300)}${'}'.repeat(300)}`;
    const { trusted } = await stage(t, {
      good: '{ a }',
      old: '{ removed }',
      broken: '{',
      deep,
      mutates: 'mutation { a }',
    });
    await trusted.start();
    assert.deepEqual(
      trusted.unusable.map(({ id, reason }) => [id, reason.split(/[.:]/)[0]]),
      [
        ['old', 'Cannot query field "removed" on type "Query"'],
        ['broken', 'Syntax Error'],
        ['deep', 'The document nests fields more than 200 levels deep, with fragments expanded'],
        ['mutates', 'The schema has no mutation type, so it cannot execute a mutation'],
      ],
    );
    assert.deepEqual([trusted.size, trusted.textOf('old')], [5, '{ removed }']);
  });

  it('names a document that is nested too deep to be parsed', async (t) => {
    const { trusted } = await stage(t, { good: '{ a }', deep: '{a'.repeat(9_000) });
    await trusted.start();
    assert.deepEqual(
      trusted.unusable.map(({ id }) => id),
      ['deep'],
    );
  });

  it('does not block the event loop while it reads many documents', async (t) => {
    const large = `{ ${Array.from({ length: 500 }, (_, i) => `x${i}: a`).join(' ')} }`;
    const { trusted } = await stage(
      t,
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`id${i}`, `${large} #${i}`])),
    );
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await trusted.start();
    clearInterval(timer);
    assert.equal(trusted.size, 300);
    assert.ok(turns > 10, `${turns} turns`);
  });

  it('does not block the event loop while it checks the ids of many documents, of which the last is wrong', async (t) => {
    const documents = Array.from({ length: 50_000 }, (_, i): [string, string] => [`id${i}`, `{ a } #${i}`]);
    const { trusted } = await stage(t, Object.fromEntries([...documents, ['0'.repeat(64), '{ a }']]));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await assert.rejects(trusted.start(), /is not the SHA-256 of its document/);
    clearInterval(timer);
    assert.ok(turns > 10, `${turns} turns`);
  });

  it('may be closed at any time, again and again', async (t) => {
    const { trusted } = await stage(t, { a: '{ a }' });
    await trusted.close();
    await trusted.start();
    await trusted.close();
    await trusted.close();
    assert.equal(trusted.textOf('a'), '{ a }');
  });
});
