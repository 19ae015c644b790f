/** The machine's monotonic clock in ms, shared by all processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
