import { CloseCode } from 'graphql-ws';

/** Every close code that crier sends. What stock clients do with each: docs/reference/errors.md. */
export const CLOSE_CODES = {
  goingAway: 1001,
  policyViolation: 1008,
  messageTooBig: 1009,
  serviceRestart: 1012,
  tryAgainLater: 1013,
  badRequest: CloseCode.BadRequest,
  unauthorized: CloseCode.Unauthorized,
  forbidden: CloseCode.Forbidden,
  subprotocolNotAcceptable: CloseCode.SubprotocolNotAcceptable,
  /** The protocol's code for a late `connection_init`, here also for a message that is not completed in time. Stock clients retry. */
  timeout: CloseCode.ConnectionInitialisationTimeout,
  idInUse: CloseCode.SubscriberAlreadyExists,
  secondInit: CloseCode.TooManyInitialisationRequests,
} as const;

/** Codes that crier sends, and those with which clients of graphql-ws and browsers close. A client may send 2,000 others (3000 to 4999). */
const KNOWN_CODES: ReadonlySet<number | string> = new Set([
  ...Array.from({ length: 16 }, (_, i) => 1000 + i),
  ...Object.values(CLOSE_CODES),
  ...Object.values(CloseCode),
]);

/** The metric label of a close code. Unknown codes share the label "other", so clients cannot create labels. */
export function closeLabel(code: number): string {
  return KNOWN_CODES.has(code) ? String(code) : 'other';
}

/** A close frame's reason has at most 123 bytes of UTF-8 (RFC 6455 section 5.5); a longer one is cut. */
export function closeFrameReason(text: string): string {
  let reason = '';
  for (const character of text) {
    if (Buffer.byteLength(reason + character) > 123) break;
    reason += character;
  }
  return reason;
}
