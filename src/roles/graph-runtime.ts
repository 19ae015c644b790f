import type { Backends } from '../context/backends.ts';
import { SharingAudit } from '../fanout/sharing/sharing-audit.ts';
import { DocumentCache } from '../graph/documents/document-cache.ts';
import { CompileQueue } from '../graph/execution/compile-queue.ts';
import type { Executions } from '../graph/execution/executions.ts';
import { Executor } from '../graph/execution/executor.ts';
import { GraphRuntime } from '../graph/runtime.ts';
import type { RoleServices } from './services.ts';

export function createRuntime(
  { config, graph, log, metrics }: RoleServices,
  backends: Backends,
  executions: Executions,
): GraphRuntime {
  const documents = new DocumentCache(graph.schema, {
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
  metrics.gauge('crier_documents_cached', 'Valid documents in the cache.', () => documents.size);
  metrics.gauge(
    'crier_document_cache_bytes',
    'Estimated memory of the valid documents in the cache, limited by DOCUMENT_CACHE_BYTES.',
    () => documents.bytes,
  );
  return new GraphRuntime({
    graph,
    documents,
    executor: new Executor(graph.schema, {
      jitAfterUses: config.JIT_AFTER_USES,
      hasProjection: config.PROJECTION,
      onCompile: (outcome) => metrics.compilations.inc({ outcome }),
      compileLater: new CompileQueue().add,
    }),
    executions,
    backends,
    hasSharing: config.SHARING,
    channelPrefix: config.CHANNEL_PREFIX,
    log,
    onInternalError: () => metrics.internalErrors.inc(),
  });
}

/** undefined: no result is shared, so none is audited. */
export function createAudit(
  { config, tunables, log, metrics }: RoleServices,
  runtime: GraphRuntime,
): SharingAudit | undefined {
  if (!config.SHARING) return undefined;
  const audit = new SharingAudit({
    share: config.SHARING_AUDIT,
    resolverPaths: (operation) => runtime.resolverPaths(operation),
    log,
    onOutcome: (outcome) => metrics.sharingAudit.inc({ outcome }),
  });
  tunables.bind('SHARING_AUDIT', (share) => (audit.share = share));
  return audit;
}
