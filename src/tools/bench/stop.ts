/** The promise, or a rejection when the signal aborts. */
export async function unlessStopped<T>(stop: AbortSignal, promise: Promise<T>): Promise<T> {
  const stopped = new AbortController();
  try {
    const interrupted = new Promise<never>((_, reject) => {
      stop.addEventListener('abort', () => reject(new Error('interrupted')), { signal: stopped.signal });
    });
    return await Promise.race([promise, interrupted]);
  } finally {
    stopped.abort();
  }
}
