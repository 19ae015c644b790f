import { answerOf } from './sample-answers.ts';
import { dossierOf } from './sample-dossiers.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/**
 * Responds for all backends: to `POST <path>/batch {"ids":[…]}` with objects by id, and for "trinity" to `GET /dossiers/<noun>/<id>`.
 * Equal requests have equal responses. Returns undefined (404) for any other request; a batch omits ids without a digit.
 */
export function respond(backend: string, { method, path, body }: Request): unknown {
  if (backend === 'trinity' && method === 'GET') {
    const [, noun, id] = /^\/dossiers\/([a-z]+)\/([^/]+)$/.exec(path) ?? [];
    return noun !== undefined && id !== undefined ? dossierOf(noun, id) : undefined;
  }
  const endpoint = `${backend} ${/^(\/[a-z-]+)\/batch$/.exec(path)?.[1]}`;
  const ids = (body as { ids?: unknown } | null | undefined)?.ids;
  if (method !== 'POST' || !Array.isArray(ids) || answerOf(endpoint, '1') === undefined) return undefined;
  const answers = ids.map((id) => [String(id), answerOf(endpoint, String(id))] as const);
  return Object.fromEntries(answers.filter(([, answer]) => answer !== undefined));
}
