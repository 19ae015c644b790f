import type { Request, RequestParams } from 'graphql-http';
import { documentIdOf } from '../../graph/documents/document-request.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { isJsonObject, jsonKind } from '../../base/json/json-object.ts';
import { payloadProblem } from '../operations/payload-problem.ts';

/** The parameters of a request (graphql-over-http), which may name its document by an id. */
export interface DocumentParams extends RequestParams {
  readonly documentId?: unknown;
}

const EXAMPLE = '{"query":"{ __typename }"}';

const BATCH =
  'Batches are not supported: send each request as a JSON object of its own (Apollo Client: HttpLink instead of BatchHttpLink)';

/**
 * The parameters of a request whose head is accepted. It has a text, or names its document by an id.
 * @throws Error whose message is for the client
 */
export function parseRequest({ method, url, body }: Pick<Request<unknown, unknown>, 'method' | 'url' | 'body'>) {
  const { query, variables, operationName, extensions, documentId } = method === 'GET' ? inUrl(url) : inBody(body);
  const isById = query == null && documentIdOf({ documentId, extensions }) !== undefined;
  const params = { query: isById ? '' : query, variables, operationName, extensions, documentId };
  if (params.query === undefined) throw new Error(`query is missing: the text of the operation, as in ${EXAMPLE}`);
  const problem = payloadProblem(params);
  if (problem !== undefined) throw new Error(problem);
  return params as DocumentParams;
}

function inUrl(url: string): Readonly<Record<string, unknown>> {
  const params = Object.fromEntries(new URLSearchParams(url.split('?')[1]));
  const parsed = (name: string) => (params[name] ? parseJson(params[name], `${name} in the URL`) : undefined);
  return { ...params, variables: parsed('variables'), extensions: parsed('extensions') };
}

function inBody(body: unknown): Readonly<Record<string, unknown>> {
  const data = typeof body === 'string' ? parseJson(body, 'The body') : body;
  if (Array.isArray(data)) throw new Error(BATCH);
  if (!isJsonObject(data)) throw new Error(`The body must be a JSON object such as ${EXAMPLE}, got ${jsonKind(data)}`);
  return data;
}

function parseJson(text: string, what: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    const example = what === 'The body' ? `, such as ${EXAMPLE}` : '';
    throw new Error(`${what} must be JSON${example}: ${(error as Error).message}`, { cause: error });
  }
}
