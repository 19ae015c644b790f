import { parseRequestParams } from 'graphql-http';
import type { Request, RequestParams, Response } from 'graphql-http';
import { documentIdOf } from '../../graph/documents/document-request.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';

/** The parameters of a request (graphql-over-http), which may name its document by an id. */
export interface DocumentParams extends RequestParams {
  readonly documentId?: unknown;
}

/** The parts of a request that have its parameters. */
interface Source extends Pick<Request<unknown, unknown>, 'url' | 'body'>, Pick<DocumentParams, 'documentId'> {
  /** Of a URL, whose numbers graphql-http would round; it names what is wrong with them. */
  readonly variables?: Record<string, unknown> | undefined;
}

/** What `refusedHead` has made sure of, as graphql-http spells it. */
const JSON_HEADERS = { 'content-type': 'application/json' };

/** As graphql-http's `parseRequestParams`, and accepts a request that names its document by an id and has no text. */
export async function parseRequest<Raw, Context>(request: Request<Raw, Context>): Promise<DocumentParams | Response> {
  const { documentId, variables, ...source } = request.method === 'GET' ? inUrl(request) : inBody(request);
  const params = await parseRequestParams({ ...request, ...source, headers: JSON_HEADERS });
  return 'query' in params ? { ...params, ...(variables && { variables }), documentId } : params;
}

function inUrl({ url, body }: Source): Source {
  const [path, search] = url.split('?');
  const params = new URLSearchParams(search);
  const documentId = params.get('documentId');
  const id = documentIdOf({ documentId, extensions: parsed(params.get('extensions') ?? '') });
  const variables = parsed(params.get('variables') ?? '') as Record<string, unknown> | undefined;
  if (id === undefined || params.has('query')) return { url, body, documentId, variables };
  params.set('query', '');
  return { url: `${path}?${params.toString()}`, body, documentId, variables };
}

const BATCH =
  'Batches are not supported: send each request as a JSON object of its own (Apollo Client: HttpLink instead of BatchHttpLink)';

/** graphql-http names the other mistakes of a body that is not a JSON object. @throws Error for a list, whose message is for the client */
function inBody({ url, body }: Source): Source {
  const data = typeof body === 'string' ? parsed(body) : undefined;
  if (Array.isArray(data)) throw new Error(BATCH);
  if (typeof data !== 'object' || data === null) return { url, body };
  const params = data as Record<string, unknown>;
  const { query, documentId } = params;
  const isText = query != null || documentIdOf(params) === undefined;
  return { url, body: isText ? params : { ...params, query: '' }, documentId };
}

function parsed(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
