/**
 * Parses the text of a JSON object.
 * @throws Error whose message names a position and none of the text: a file may be the wrong one
 */
export function parseJsonObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const line = position && text.slice(0, Number(position)).split('\n').length;
    throw new Error(line ? `not JSON, in line ${line}` : 'not JSON');
  }
  if (!isJsonObject(value)) throw new Error(`expected a JSON object, got ${jsonKind(value)}`);
  return value;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The kind of a JSON value, for a message: `null`, `an array`, `an object`, `a string`; `nothing` if there is none. */
export function jsonKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
