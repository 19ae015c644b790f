import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { RecordSampler } from '../../src/config/record-sampler.ts';
import { SpanBudget } from '../../src/ops/tracing/span-budget.ts';
import { Spans } from '../../src/ops/tracing/spans.ts';

export interface RecordedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly links: readonly string[];
}

/** Spans of the real SDK, kept in this process. */
export function recordedSpans({ ratio = 1, perSecond = 1000 } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const spans = new Spans(provider.getTracer('test'), new SpanBudget(perSecond));
  const ended = (): RecordedSpan[] =>
    exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      ...span.spanContext(),
      parentSpanId: span.parentSpanContext?.spanId,
      attributes: span.attributes,
      // 2: SpanStatusCode.ERROR
      isError: Number(span.status.code) === 2,
      links: span.links.map(({ context }) => context.spanId),
    }));
  return { spans, sampler: new RecordSampler(ratio), ended };
}
