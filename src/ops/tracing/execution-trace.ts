import { SpanKind } from '@opentelemetry/api';
import { printTraceParent } from '../../base/trace-context.ts';
import type { ActiveSpan, Spans } from './spans.ts';

/** Spans for the backend requests of one execution; further requests are only counted. */
const MAX_REQUESTS = 16;

/** The span of one execution, as the parent of its backend requests. */
export class ExecutionTrace {
  readonly #spans: Spans;
  readonly #span: ActiveSpan;
  #requests = 0;

  constructor(spans: Spans, span: ActiveSpan) {
    this.#spans = spans;
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.context.traceId;
  }

  /** Starts the span of a request to a backend. */
  startRequest(backend: string, method: string): RequestTrace {
    const span =
      ++this.#requests > MAX_REQUESTS
        ? undefined
        : this.#spans.start(`${method} ${backend}`, {
            kind: SpanKind.CLIENT,
            parent: this.#span.context,
            attributes: { 'http.request.method': method, 'peer.service': backend },
          });
    return new RequestTrace(span, span ?? this.#span);
  }

  end(): void {
    this.#close();
    this.#span.end();
  }

  fail(type: string): void {
    this.#close();
    this.#span.fail(type);
  }

  #close(): void {
    if (this.#requests > 0) this.#span.set({ 'crier.backend.requests': this.#requests });
  }
}

/** One request to a backend. */
class RequestTrace {
  /** Of the request: `traceparent` and `tracestate`. Nothing else leaves, no baggage in particular: a backend may be a third party. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #span: ActiveSpan | undefined;

  constructor(span: ActiveSpan | undefined, { context }: ActiveSpan) {
    const traceparent = printTraceParent(context);
    this.headers = context.state === undefined ? { traceparent } : { traceparent, tracestate: context.state };
    this.#span = span;
  }

  end(): void {
    this.#span?.end();
  }

  /** @param status of the response, if there was one */
  fail(type: string, status?: number): void {
    if (status !== undefined) this.#span?.set({ 'http.response.status_code': status });
    this.#span?.fail(type);
  }
}
