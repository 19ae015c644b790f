/** True for every value that graphql-js awaits, such as a query builder: also for a function, and an object that is no Promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
