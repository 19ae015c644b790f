import { hash } from 'node:crypto';
import { jsonKind, parseJsonObject } from '../../base/json/json-object.ts';

/** What the persisted queries of Apollo's clients name their file format. */
const APOLLO_FORMAT = 'apollo-persisted-query-manifest';
const MAX_PROBLEMS = 5;
const MAX_SHOWN_ID = 80;

/** An id that is a SHA-256 in hex, with or without the prefix of the draft "Persisted Documents" of GraphQL over HTTP. */
const SHA256_ID = /^(?:sha256:)?([0-9a-f]{64})$/;

/** An id without the prefix `sha256:`: both forms name one document. */
export function bareId(id: string): string {
  return SHA256_ID.exec(id)?.[1] ?? id;
}

/**
 * The texts of a manifest by id: `{ "<id>": "<document>" }`, as GraphQL Code Generator and Relay write it, or Apollo's
 * `{ "format": "apollo-persisted-query-manifest", "version": 1, "operations": [{ "id", "body" }] }`.
 * @param pause is called before each document, so that others may run between two
 * @throws Error that names what is wrong
 */
export async function parseManifest(
  text: string,
  pause: () => Promise<void> | undefined,
): Promise<Map<string, string>> {
  const manifest = parseJsonObject(text);
  const problems: string[] = [];
  const texts = new Map<string, string>();
  for (const [id, document] of entriesOf(manifest)) {
    await pause();
    const problem = problemOf(id, document) ?? (isOther(texts, id, document) ? 'is there twice' : undefined);
    if (problem !== undefined) problems.push(`${shown(id)} ${problem}`);
    else texts.set(bareId(id as string), document as string);
  }
  if (problems.length > 0) {
    const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : '';
    throw new Error(`${problems.slice(0, MAX_PROBLEMS).join('; ')}${more}`);
  }
  if (texts.size === 0) throw new Error('it has no documents');
  return texts;
}

function entriesOf(manifest: object): (readonly [id: unknown, document: unknown])[] {
  const { format, version, operations } = manifest as Readonly<Record<string, unknown>>;
  if (format !== APOLLO_FORMAT) return Object.entries(manifest);
  if (version !== 1) throw new Error(`expected version 1 of ${APOLLO_FORMAT}`);
  if (!Array.isArray(operations)) throw new Error(`expected a list of operations, got ${jsonKind(operations)}`);
  return operations.map((operation: { id?: unknown; body?: unknown } | null) => [operation?.id, operation?.body]);
}

function problemOf(id: unknown, document: unknown): string | undefined {
  if (typeof id !== 'string' || id === '') return 'is no id';
  if (document === undefined) return 'has no document';
  if (typeof document !== 'string') return `is ${jsonKind(document)} instead of the text of a document`;
  // All lone surrogates have the same UTF-8 bytes, and so the same hash.
  if (/\p{Surrogate}/u.test(document)) return 'is not well-formed Unicode';
  const key = hash('sha256', document);
  // Clients that compute the hash of their text would run another document.
  if (SHA256_ID.test(id) && bareId(id) !== key) return `is not the SHA-256 of its document, which is ${key}`;
  return undefined;
}

function isOther(texts: ReadonlyMap<string, string>, id: unknown, document: unknown): boolean {
  const known = texts.get(bareId(id as string));
  return known !== undefined && known !== document;
}

function shown(id: unknown): string {
  if (typeof id !== 'string') return id === undefined ? 'a missing id' : jsonKind(id);
  const text = JSON.stringify(id);
  return text.length > MAX_SHOWN_ID ? `${text.slice(0, MAX_SHOWN_ID)}…` : text;
}
