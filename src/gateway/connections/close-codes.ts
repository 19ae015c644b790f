import { CloseCode } from 'graphql-ws';

/** Close codes that crier sends itself; graphql-ws's `CloseCode` has those of the protocol. What stock clients do with each: docs/operations.md. */
export const CLOSE_CODES = {
  goingAway: 1001,
  policyViolation: 1008,
  messageTooBig: 1009,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  /** The protocol's code for a late `connection_init`, here also for a message that is not completed in time. Stock clients retry. */
  timeout: CloseCode.ConnectionInitialisationTimeout,
} as const;

/** Codes 1000 to 1015 and those of graphql-transport-ws. A client may send 2,000 others (3000 to 4999). */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...Array.from({ length: 16 }, (_, i) => 1000 + i),
  ...Object.values(CloseCode).filter((code) => typeof code === 'number'),
]);

/** The metric label of a close code. Unknown codes share the label "other", so clients cannot create labels. */
export function closeLabel(code: number): string {
  return KNOWN_CODES.has(code) ? String(code) : 'other';
}
