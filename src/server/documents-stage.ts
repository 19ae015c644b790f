import { DocumentCache } from '../graph/documents/document-cache.ts';
import type { DocumentCounts } from '../graph/documents/document-metrics.ts';
import { DocumentReader } from '../graph/documents/document-reader.ts';
import { RequestedDocuments } from '../graph/documents/requested-documents.ts';
import { TrustedDocuments } from '../graph/documents/trusted-documents.ts';
import type { Graph } from '../graph/graph-parts.ts';
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
export async function openDocuments(
  services: RoleServices,
  graph: Graph,
  counts: DocumentCounts,
): Promise<GraphDocuments> {
  const { config } = services;
  const trusted = config.TRUSTED_DOCUMENTS === '' ? undefined : await openTrusted(services, graph, counts);
  const cache = createCache(services, graph, counts);
  const requested = new RequestedDocuments({
    cache,
    trusted,
    isTrustRequired: config.TRUSTED_DOCUMENTS !== '' && config.TRUSTED_DOCUMENTS_MODE !== 'allowed',
    hasAutomatic: config.APQ,
    onRefusal: (outcome) => counts.lookups.inc({ outcome }),
    onUntrusted: () => counts.untrusted.inc(),
  });
  return { requested, cache, trusted };
}

function createCache({ config }: RoleServices, graph: Graph, { lookups }: DocumentCounts): DocumentCache {
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
    onLookup: (outcome) => lookups.inc({ outcome }),
  });
}

async function openTrusted(
  { config, log }: RoleServices,
  graph: Graph,
  { rejected }: DocumentCounts,
): Promise<TrustedDocuments> {
  const onAccepted = ({ unusable, size }: TrustedDocuments) => {
    log.info({ documents: size }, 'trusted documents are read');
    if (unusable.length === 0) return;
    log.warn(
      { unusable: unusable.slice(0, MAX_LOGGED), documents: unusable.length },
      'the graph cannot run some trusted documents; clients that request them receive errors',
    );
  };
  const setting = config.names.TRUSTED_DOCUMENTS;
  const trusted = new TrustedDocuments({
    setting,
    path: config.TRUSTED_DOCUMENTS,
    reader: new DocumentReader(graph.schema, { hasIntrospection: config.INTROSPECTION }),
    onChange: (refusal, documents) => {
      if (refusal === undefined) return onAccepted(documents);
      rejected.inc();
      log.error({ reason: refusal }, `${setting} is rejected; the trusted documents stay as they are`);
    },
  });
  await trusted.start();
  onAccepted(trusted);
  return trusted;
}
