/** The position of a span in a trace (https://www.w3.org/TR/trace-context/). crier carries no baggage. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all 0. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** The `tracestate` of tracing systems, passed on unchanged but without optional spaces; undefined: none. */
  readonly state?: string | undefined;
}

const TRACE_PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const TRACE_PARENT_LENGTH = 55;
const SAMPLED = 1;

/** In characters; the specification asks for no more. */
const MAX_STATE_LENGTH = 512;
const MAX_STATE_MEMBERS = 32;
/** A member of `tracestate`. The specification allows a space inside a value, too. A header line of the bus does not. */
const STATE_MEMBER = /^[a-z0-9][\w*/@-]{0,255}=[!-+\--<>-~]{1,256}$/;

/**
 * Parses `traceparent` of version 00; undefined if it is anything else.
 * @param state `tracestate`; if it is malformed or longer than 512 characters, the context has none
 */
export function parseTraceContext(parent: string, state?: string): TraceContext | undefined {
  if (parent.length !== TRACE_PARENT_LENGTH) return undefined;
  const [match, traceId, spanId, flags] = TRACE_PARENT.exec(parent) ?? [];
  if (match === undefined) return undefined;
  const isSampled = (Number.parseInt(flags!, 16) & SAMPLED) !== 0;
  const known = state === undefined ? undefined : parseState(state);
  const context = { traceId: traceId!, spanId: spanId!, isSampled };
  return known === undefined ? context : { ...context, state: known };
}

export function printTraceParent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

function parseState(text: string): string | undefined {
  if (text.length > MAX_STATE_LENGTH) return undefined;
  const members = text.split(',').map((member) => member.trim());
  const present = members.filter((member) => member !== '');
  if (present.length === 0 || present.length > MAX_STATE_MEMBERS) return undefined;
  return present.every((member) => STATE_MEMBER.test(member)) ? present.join(',') : undefined;
}
