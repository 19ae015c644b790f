/**
 * A text that differs for objects with other keys, other values or functions of other code. The values that functions close over are not in it.
 * @param seen objects that the text has already: they may contain themselves
 */
export function sourceTextOf(value: unknown, seen = new Set<object>()): string {
  if (typeof value === 'function') return Function.prototype.toString.call(value);
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  if (seen.has(value)) return '';
  seen.add(value);
  const entries = Object.entries(value).map(([key, of]) => [key, sourceTextOf(of, seen)]);
  return JSON.stringify(entries);
}
