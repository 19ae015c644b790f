import assert from 'node:assert/strict';
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
      await stage.grows(['crier_compilations_total{outcome="compiled"}'], () => run('query another { hello }'));
    },
  },
];
