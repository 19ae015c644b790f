import { DocumentCache } from '../graph/documents/document-cache.ts';
import { DocumentReader } from '../graph/documents/document-reader.ts';
import { RequestedDocuments } from '../graph/documents/requested-documents.ts';
import { TrustedDocuments } from '../graph/documents/trusted-documents.ts';
import type { Graph } from '../graph/graph.ts';
import type { RoleServices } from './services.ts';

/** Documents that the graph cannot run, in one line of the log. */
const MAX_LOGGED = 10;

/** The documents that clients may run, for one graph. */
export interface GraphDocuments {
  readonly requested: RequestedDocuments;
  readonly cache: DocumentCache;
  /** undefined: there is no manifest. */
  readonly trusted: TrustedDocuments | undefined;
}

/** Resolves when the documents of TRUSTED_DOCUMENTS are read. @throws ConfigError if the graph can run none of them */
export async function openDocuments(services: RoleServices, graph: Graph): Promise<GraphDocuments> {
  const { config, metrics } = services;
  const trusted = config.TRUSTED_DOCUMENTS === '' ? undefined : await openTrusted(services, graph);
  const cache = createCache(services, graph);
  const requested = new RequestedDocuments({
    cache,
    trusted,
    isTrustRequired: config.TRUSTED_DOCUMENTS !== '' && config.TRUSTED_DOCUMENTS_MODE !== 'allowed',
    hasAutomatic: config.APQ,
    onRefusal: (outcome) => metrics.documents.inc({ outcome }),
    onUntrusted: () => metrics.untrustedDocuments.inc(),
  });
  return { requested, cache, trusted };
}

/** @param documents of the graph that is served */
export function showDocuments({ metrics }: RoleServices, documents: () => GraphDocuments): void {
  metrics.gauge('crier_trusted_documents', 'Documents of TRUSTED_DOCUMENTS.', () => documents().trusted?.size ?? 0);
  metrics.gauge(
    'crier_trusted_documents_unusable',
    'Documents of TRUSTED_DOCUMENTS that the graph cannot run.',
    () => documents().trusted?.unusable.length ?? 0,
  );
  metrics.gauge('crier_documents_cached', 'Valid documents in the cache.', () => documents().cache.size);
  metrics.gauge(
    'crier_document_cache_bytes',
    'Estimated memory of the valid documents in the cache, limited by DOCUMENT_CACHE_BYTES.',
    () => documents().cache.bytes,
  );
}

function createCache({ config, metrics }: RoleServices, graph: Graph): DocumentCache {
  return new DocumentCache(graph.schema, {
    maxLength: config.MAX_QUERY_LENGTH,
    maxTokens: config.MAX_QUERY_TOKENS,
    maxDepth: config.MAX_QUERY_DEPTH,
    maxAliases: config.MAX_QUERY_ALIASES,
    maxDirectives: config.MAX_QUERY_DIRECTIVES,
    hasIntrospection: config.INTROSPECTION,
    hasLocations: config.AST_LOCATIONS,
    maxEntries: config.DOCUMENT_CACHE_ENTRIES,
    maxBytes: config.DOCUMENT_CACHE_BYTES,
    maxInvalidEntries: config.INVALID_DOCUMENT_CACHE_ENTRIES,
    onLookup: (outcome) => metrics.documents.inc({ outcome }),
  });
}

async function openTrusted({ config, log, metrics }: RoleServices, graph: Graph): Promise<TrustedDocuments> {
  const onAccepted = () => {
    const { unusable, size } = trusted;
    log.info({ documents: size }, 'trusted documents are read');
    if (unusable.length === 0) return;
    log.warn(
      { unusable: unusable.slice(0, MAX_LOGGED), documents: unusable.length },
      'the graph cannot run some trusted documents; clients that request them receive errors',
    );
  };
  const trusted = new TrustedDocuments({
    path: config.TRUSTED_DOCUMENTS,
    reader: new DocumentReader(graph.schema, { hasIntrospection: config.INTROSPECTION }),
    onChange: (refusal) => {
      if (refusal === undefined) return onAccepted();
      metrics.rejectedTrustedDocuments.inc();
      log.error({ reason: refusal }, 'TRUSTED_DOCUMENTS is rejected; the trusted documents stay as they are');
    },
  });
  await trusted.start();
  onAccepted();
  return trusted;
}
