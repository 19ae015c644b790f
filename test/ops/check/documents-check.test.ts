import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkTrustedDocuments } from '../../../src/ops/check/documents-check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { CONFORMANCE_GRAPH } from '../../gateway/websocket/reference.ts';

describe('crier check with TRUSTED_DOCUMENTS', () => {
  const cases: readonly (readonly [what: string, manifest: object | undefined, expected: readonly string[]])[] = [
    ['a good manifest', { a: '{ hello }' }, ['ok: TRUSTED_DOCUMENTS: <path> has 1 document']],
    [
      'a manifest with a document that the graph cannot run',
      { a: '{ hello }', b: '{ removed }' },
      [
        'ok: TRUSTED_DOCUMENTS: <path> has 2 documents',
        'warning: TRUSTED_DOCUMENTS: the graph cannot run b; correct the document or the graph: Cannot query field "removed" on type "Query".',
      ],
    ],
    [
      'a missing manifest',
      undefined,
      [
        'failed: TRUSTED_DOCUMENTS: there is no file <path>; expected a JSON file with documents by id, such as { "<SHA-256>": "query …" }',
      ],
    ],
  ];
  for (const [what, manifest, expected] of cases) {
    it(`reports ${what}`, async (t) => {
      const path = join(await temporaryFolder(t), 'documents.json');
      if (manifest) await writeFile(path, JSON.stringify(manifest));
      const findings = await checkTrustedDocuments(
        readConfig({ TRUSTED_DOCUMENTS: path }),
        await loadGraph(CONFORMANCE_GRAPH),
      );
      assert.deepEqual(
        findings.map(({ status, text }) => `${status}: ${text.replace(path, '<path>')}`),
        expected,
      );
    });
  }

  it('reports nothing without a manifest, and for a worker', async () => {
    const graph = await loadGraph(CONFORMANCE_GRAPH);
    assert.deepEqual(await checkTrustedDocuments(readConfig({}), graph), []);
    const worker = { ROLE: 'worker', KAFKA_BROKERS: 'a:1', REDIS_URL: 'redis://a', TRUSTED_DOCUMENTS: 'missing.json' };
    assert.deepEqual(await checkTrustedDocuments(readConfig(worker), graph), []);
  });
});
