/** What a request says of its document. */
export interface DocumentRequest {
  /** '' if the request names the document by its id only. */
  readonly query: string;
  /** undefined: the request names none. */
  readonly id?: string | undefined;
}

/** Members of a request of GraphQL over HTTP, and of the payload of a `subscribe` message. */
interface RequestMembers {
  readonly query?: unknown;
  /** https://github.com/graphql/graphql-over-http/pull/264 */
  readonly documentId?: unknown;
  readonly extensions?: unknown;
}

/**
 * The id of the document that a request names: `documentId`, which urql sends for documents of GraphQL Code Generator, or
 * `extensions.persistedQuery.sha256Hash`, which Apollo's clients and urql's exchange send. Relay's network layer is code of the application.
 */
export function documentIdOf({ documentId, extensions }: RequestMembers): string | undefined {
  if (typeof documentId === 'string' && documentId !== '') return documentId;
  const { persistedQuery } = membersOf(extensions);
  const { sha256Hash } = membersOf(persistedQuery);
  return typeof sha256Hash === 'string' && sha256Hash !== '' ? sha256Hash : undefined;
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
