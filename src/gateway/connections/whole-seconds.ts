/** A monotonic clock in seconds: a small integer, which takes no memory of its own in each connection. */
export function wholeSeconds(): number {
  return Math.floor(performance.now() / 1000);
}
