/**
 * The response path of the first difference between two results, or the name of the part that differs; undefined if they are equal. The
 * random ids of masked errors and the order of errors do not count.
 */
export function firstDifference(text: string, other: string): string | undefined {
  if (text === other) return undefined;
  const a = JSON.parse(text) as Result;
  const b = JSON.parse(other) as Result;
  return differenceAt('', a.data, b.data)?.slice(1) ?? errorDifference(errorsOf(a), errorsOf(b));
}

interface ResultError {
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly ResultError[];
}

function differenceAt(path: string, a: unknown, b: unknown): string | undefined {
  if (a === b) return undefined;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return path;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) {
    const inner = (object: object) => (object as Record<string, unknown>)[key];
    const found = differenceAt(`${path}.${key}`, inner(a), inner(b));
    if (found !== undefined) return found;
  }
  return Array.isArray(a) === Array.isArray(b) ? undefined : path;
}

/** By text, the path of each error. */
function errorsOf({ errors = [] }: Result): Map<string, string> {
  return new Map(errors.map((error) => [textOf(error), error.path?.join('.') ?? 'errors']));
}

function textOf({ extensions, ...error }: ResultError): string {
  const { id, ...others } = extensions ?? {};
  return JSON.stringify({ ...error, extensions: typeof id === 'string' ? others : extensions });
}

function errorDifference(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string | undefined {
  for (const [text, path] of [...a, ...b]) if (!a.has(text) || !b.has(text)) return path;
  return undefined;
}
