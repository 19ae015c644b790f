/** What a caller wants to see of a list. */
export interface TopQuery<Column extends string> {
  /** The column that it is sorted by. */
  readonly by: Column;
  readonly limit: number;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** `?by=<column>&limit=<number>`, or why they cannot be used. @param columns the first is the default */
export function topQuery<Column extends string>(
  { searchParams }: URL,
  columns: readonly [Column, ...Column[]],
): TopQuery<Column> | string {
  const by = columns.find((column) => column === (searchParams.get('by') ?? columns[0]));
  if (by === undefined) return `by: expected one of ${columns.join(', ')}`;
  const text = searchParams.get('limit') ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT) return `limit: expected a whole number from 1 to ${MAX_LIMIT}`;
  return { by, limit };
}
