import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPod } from '../../../end-to-end/pod-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { apart } from './stage.ts';
import type { Cause } from './cause.ts';

export const documentCauses: readonly Cause[] = [
  {
    title: 'documents, valid and invalid',
    metrics: [
      'crier_documents_total',
      'crier_documents_cached',
      'crier_document_cache_bytes',
      'crier_compilations_total',
      'crier_internal_errors_total',
    ],
    run: async (stage) => {
      const run = async (query: string) => {
        const body = JSON.stringify({ query });
        await fetch(stage.pod.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      };
      const bytes = await stage.value('crier_document_cache_bytes');
      await stage.moves(
        { 'crier_documents_total{outcome="miss"}': 1, crier_documents_cached: 1, crier_internal_errors_total: 1 },
        () => run('query ofThisTest { fails }'),
      );
      assert.ok((await stage.value('crier_document_cache_bytes')) > bytes);
      await stage.moves(
        { 'crier_documents_total{outcome="hit"}': 1, crier_documents_cached: 0, crier_internal_errors_total: 1 },
        () => run('query ofThisTest { fails }'),
      );
      await stage.moves({ 'crier_documents_total{outcome="invalid"}': 1 }, () => run('{ nothing }'));
      // An operation is compiled after its third use, by the next one.
      await stage.grows(['crier_compilations_total{outcome="compiled"}'], async () => {
        for (let use = 1; use <= 5; use++) await run('query another { hello }');
      });
    },
  },
  {
    title: 'documents of a manifest, and others',
    metrics: [
      'crier_trusted_documents',
      'crier_trusted_documents_unusable',
      'crier_trusted_documents_rejected_total',
      'crier_trusted_documents_outdated',
      'crier_untrusted_documents_total',
    ],
    run: async (stage, t) => {
      const file = join(await temporaryFolder(t), 'documents.json');
      await writeFile(file, '{ "hello": "{ hello }", "old": "{ removed }" }');
      const settings = { ...apart(stage, 'trusted'), ROLE: 'gateway', TRUSTED_DOCUMENTS: file };
      const pod = await startPod(t, settings);
      const run = (request: object) =>
        fetch(pod.endpoint, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(request),
        });
      assert.equal(await pod.metric('crier_trusted_documents'), 2);
      assert.equal(await pod.metric('crier_trusted_documents_unusable'), 1);
      await run({ documentId: 'hello' });
      assert.equal(await pod.metric('crier_untrusted_documents_total'), 0);
      await run({ documentId: 'unknown' });
      await run({ query: 'query another { hello }' });
      assert.equal(await pod.metric('crier_untrusted_documents_total'), 2);
      assert.equal(await pod.metric('crier_documents_total{outcome="unknown"}'), 2);
      assert.equal(await pod.metric('crier_trusted_documents_outdated'), 0);
      await writeFile(file, '{}');
      await pod.counts('crier_trusted_documents_rejected_total', 1);
      assert.equal(await pod.metric('crier_trusted_documents_outdated'), 1);
      assert.equal(await pod.metric('crier_trusted_documents'), 2);
      await writeFile(file, '{ "hello": "{ hello }" }');
      await pod.until('the correction', async () => (await pod.metric('crier_trusted_documents_outdated')) === 0);
      assert.equal(await pod.metric('crier_trusted_documents'), 1);
      await pod.stop();
    },
  },
];
