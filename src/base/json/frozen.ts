import { parseExactly } from './exact-numbers.ts';

/**
 * `parseExactly` with a deeply frozen result, for a value that several readers share.
 * @throws SyntaxError
 */
export function parseFrozen(text: string): unknown {
  const parsed = parseExactly(text);
  if (isContainer(parsed)) freezeDeep(parsed);
  return parsed;
}

/** Freezes JSON data of any depth. */
export function freezeDeep(root: object): void {
  const left = [root];
  for (let value = left.pop(); value; value = left.pop()) {
    for (const inner of Object.values(value) as unknown[]) if (isContainer(inner)) left.push(inner);
    Object.freeze(value);
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
