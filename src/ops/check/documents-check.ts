import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../base/errors.ts';
import { DocumentReader } from '../../graph/documents/document-reader.ts';
import { TrustedDocuments } from '../../graph/documents/trusted-documents.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { failed, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Reads TRUSTED_DOCUMENTS as a gateway does at its start. */
export async function checkTrustedDocuments(
  { TRUSTED_DOCUMENTS: path, INTROSPECTION: hasIntrospection, ROLE: role, names }: Config,
  graph: Graph,
): Promise<Finding[]> {
  if (path === '' || role === 'worker') return [];
  const reader = new DocumentReader(graph.schema, { hasIntrospection });
  const trusted = new TrustedDocuments({ setting: names.TRUSTED_DOCUMENTS, path, reader });
  try {
    await trusted.start();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed(error.message)];
  } finally {
    await trusted.close();
  }
  return [
    ok(`TRUSTED_DOCUMENTS: ${path} has ${trusted.size} document${trusted.size === 1 ? '' : 's'}`),
    ...trusted.unusable.map(({ id, reason }) =>
      warning(`TRUSTED_DOCUMENTS: the graph cannot run ${id}; correct the document or the graph: ${reason}`),
    ),
  ];
}
