import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { DocumentCache } from './document-cache.ts';
import type { DocumentQueue } from './document-queue.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/** Counts of the documents of all graphs. */
export type DocumentCounts = ReturnType<typeof documentCounts>;

export function documentCounts(metrics: MetricsRegistry) {
  return {
    lookups: metrics.increments('crier_documents_total', 'Look-ups in the document cache, by outcome.', ['outcome']),
    rejected: metrics.increments(
      'crier_trusted_documents_rejected_total',
      'Changes of TRUSTED_DOCUMENTS that were not accepted.',
    ),
    untrusted: metrics.increments(
      'crier_untrusted_documents_total',
      'Requests for documents that TRUSTED_DOCUMENTS does not have: refused, or run with TRUSTED_DOCUMENTS_MODE=allowed.',
    ),
  };
}

/** The documents of one graph. */
interface Documents {
  readonly cache: DocumentCache;
  /** undefined: there is no manifest. */
  readonly trusted: TrustedDocuments | undefined;
}

/** @param documents of the graph that is served */
export function observeDocuments(metrics: MetricsRegistry, documents: () => Documents): void {
  metrics.gauge(
    'crier_trusted_documents',
    'Documents of TRUSTED_DOCUMENTS.',
    () => documents().trusted?.size ?? 0,
    'max',
  );
  metrics.gauge(
    'crier_trusted_documents_unusable',
    'Documents of TRUSTED_DOCUMENTS that the graph cannot run.',
    () => documents().trusted?.unusable.length ?? 0,
    'max',
  );
  metrics.gauge(
    'crier_trusted_documents_outdated',
    '1 while the manifest of TRUSTED_DOCUMENTS is not accepted, so that earlier documents apply, else 0.',
    () => Number(documents().trusted?.isRejected ?? false),
    'max',
  );
  metrics.gauge('crier_documents_cached', 'Valid documents in the cache.', () => documents().cache.size);
  metrics.gauge(
    'crier_document_cache_bytes',
    'Estimated memory of the valid documents in the cache, at most 64 MiB.',
    () => documents().cache.bytes,
  );
}

export function observeQueue(metrics: MetricsRegistry, queue: DocumentQueue): void {
  metrics.gauge('crier_documents_waiting', 'Documents that wait to be parsed and validated.', () => queue.size);
  metrics.total(
    'crier_documents_refused_total',
    'Documents answered with OVERLOADED instead of parsed.',
    () => queue.refused,
  );
}
