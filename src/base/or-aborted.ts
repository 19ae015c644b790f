/**
 * The promise's outcome, unless the signal is aborted first.
 * @param signal undefined: the promise alone decides
 * @throws errorOf() when the signal is aborted first
 */
export async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  errorOf: () => Error,
): Promise<T> {
  if (!signal) return promise;
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(errorOf());
    signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort!));
}
