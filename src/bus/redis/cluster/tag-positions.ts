/** Prints the position of each tag for the metadata of a commit: the highest in base 36, and how far each is behind it. -1: unknown. */
export function printPositions(positions: readonly number[]): string {
  const highest = Math.max(...positions);
  if (highest < 0) return '';
  const rest = positions.map((position) => (position < 0 ? '' : (highest - position).toString(36)));
  return [highest.toString(36), ...rest].join('.');
}

/** An unreadable text has no positions. */
export function parsePositions(text: string): readonly number[] | undefined {
  if (!/^[0-9a-z]+(?:\.[0-9a-z]*)+$/.test(text)) return undefined;
  const [highest, ...rest] = text.split('.');
  return rest.map((behind) => (behind === '' ? -1 : parseInt(highest!, 36) - parseInt(behind, 36)));
}
