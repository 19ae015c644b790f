import { ROOT_CONTEXT, SpanStatusCode, TraceFlags, createTraceState, trace } from '@opentelemetry/api';
import type { Attributes, Link, Span, SpanContext, SpanKind, Tracer } from '@opentelemetry/api';
import { SpanBudget } from './span-budget.ts';
import type { TraceContext } from '../../base/trace-context.ts';

export interface SpanOptions {
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** undefined: the span begins a trace. */
  readonly parent: TraceContext | undefined;
  /** Spans of other traces that it is about. */
  readonly links?: readonly TraceContext[];
}

/** A span that is recorded. */
export class ActiveSpan {
  readonly context: TraceContext;
  readonly #span: Span;
  #hasEnded = false;

  constructor(span: Span) {
    this.#span = span;
    const { traceId, spanId, traceState } = span.spanContext();
    const state = traceState?.serialize();
    this.context = state ? { traceId, spanId, isSampled: true, state } : { traceId, spanId, isSampled: true };
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  /** Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#span.end();
  }

  /** Ends the span as failed, if it has not ended. @param type a word of few, such as an error code; never data */
  fail(type: string): void {
    if (this.#hasEnded) return;
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.end();
  }
}

/**
 * Starts the spans of one server, within its budget. Parents are given, never taken from the surrounding async context: one turn of the
 * event loop serves many records.
 */
export class Spans {
  readonly budget: SpanBudget;
  readonly #tracer: Tracer;

  constructor(tracer: Tracer, budget = new SpanBudget()) {
    this.#tracer = tracer;
    this.budget = budget;
  }

  /** undefined: the budget is spent, or the tracer's own sampler declines. */
  start(name: string, { kind, attributes, parent, links = [] }: SpanOptions): ActiveSpan | undefined {
    if (!this.budget.take()) return undefined;
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent)) : ROOT_CONTEXT;
    const linked = links.map((link): Link => ({ context: spanContextOf(link) }));
    const span = this.#tracer.startSpan(name, { kind, attributes, links: linked }, context);
    const isSampled = (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
    return isSampled ? new ActiveSpan(span) : undefined;
  }
}

function spanContextOf({ traceId, spanId, isSampled, state }: TraceContext): SpanContext {
  const context = {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  };
  return state === undefined ? context : { ...context, traceState: createTraceState(state) };
}
