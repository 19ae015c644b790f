import { parseTraceContext, printTraceParent } from '../base/trace-context.ts';
import type { TraceContext } from '../base/trace-context.ts';

/** The fields ` name=value` at the end of a message's header line (`redis/message-header.ts`) that carry a sampled record's context. */
export function printTraceFields(context: TraceContext): string {
  const parent = ` traceparent=${printTraceParent(context)}`;
  return context.state === undefined ? parent : `${parent} tracestate=${context.state}`;
}

/** The context that a header's fields carry; undefined if they carry none, a malformed one, or one that is not sampled. */
export function traceOfFields(fields: string): TraceContext | undefined {
  const parent = / traceparent=(\S*)/.exec(fields)?.[1];
  if (parent === undefined) return undefined;
  const context = parseTraceContext(parent, / tracestate=(\S*)/.exec(fields)?.[1]);
  return context?.isSampled ? context : undefined;
}
