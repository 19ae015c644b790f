/** The text by which values are compared: the Int 7 equals "7". undefined: the value cannot be matched. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value);
  return undefined;
}
