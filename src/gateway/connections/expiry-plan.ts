/** How long before its expiry a connection is closed, in ms; more if many expire together. */
export const LEAD_MS = 1_000;
/** Time that is planned for one close, in ms. It takes half of that, while nothing else is done. */
const CLOSE_MS = 0.1;

/** The longest time before its expiry at which one of so many connections is closed, in ms. */
export function longestLeadMs(connections: number): number {
  return LEAD_MS + connections * CLOSE_MS;
}

/**
 * How many connections must be closed from now on, one after the other, so that each is closed before its expiry.
 * @param expiriesMs sorted
 */
export function countDue(expiriesMs: readonly number[], nowMs: number): number {
  let due = 0;
  expiriesMs.forEach((expiryMs, i) => {
    if (expiryMs <= nowMs + longestLeadMs(i + 1)) due = i + 1;
  });
  return due;
}
