import { SpanKind } from '@opentelemetry/api';
import { parseTraceContext } from '../../base/trace-context.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { RecordSampler } from '../../config/record-sampler.ts';
import type { ActiveSpan, Spans } from './spans.ts';

/** A record of Kafka, as its span describes it. Neither its key nor its body is exported: they may name persons. */
export interface TracedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly value: { readonly length: number } | null;
  readonly headers?: Headers | undefined;
}

type HeaderValue = Buffer | string | undefined;
type Headers = Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;

/** Most spans that the span of one publish is linked with. */
const MAX_LINKS = 128;
/** Bytes of a header's value that is read; more is malformed. */
const MAX_HEADER_BYTES = 1024;

export interface RecordTracesOptions {
  readonly spans: Spans;
  readonly sampler: RecordSampler;
  /** Consumer group; '' without Kafka. */
  readonly group: () => string;
}

/** The spans of a worker: one for each sampled record, and one for each publish that has such records. */
export class RecordTraces {
  readonly #options: RecordTracesOptions;

  constructor(options: RecordTracesOptions) {
    this.#options = options;
  }

  /** Starts the span of a record. undefined: it is not sampled. Decided by its `traceparent`, or by chance without a valid one. */
  startRecord(record: TracedRecord): ActiveSpan | undefined {
    const { spans, sampler } = this.#options;
    const parent = record.headers?.['traceparent'] === undefined ? undefined : contextIn(record.headers);
    if (!sampler.isSampled(parent)) return undefined;
    const { topic, partition, offset, timestamp, value } = record;
    const group = this.#options.group();
    return spans.start(`process ${topic}`, {
      kind: SpanKind.CONSUMER,
      parent,
      attributes: {
        'messaging.system': 'kafka',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': topic,
        'messaging.destination.partition.id': String(partition),
        'messaging.kafka.offset': offset,
        'messaging.message.body.size': value?.length ?? 0,
        ...(group !== '' && { 'messaging.consumer.group.name': group }),
        'crier.record.timestamp_ms': timestamp,
      },
    });
  }

  /** Starts the span of a publish. It belongs to the trace of the first record, and is linked with the spans of all. */
  startPublish(topic: string, messages: number, records: readonly ActiveSpan[]): PublishTrace {
    const contexts = records.slice(0, MAX_LINKS).map(({ context }) => context);
    const span = this.#options.spans.start(`publish ${topic}`, {
      kind: SpanKind.PRODUCER,
      parent: contexts[0],
      links: contexts,
      attributes: {
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
        'messaging.destination.name': topic,
        'messaging.batch.message_count': messages,
      },
    });
    return new PublishTrace(span, records);
  }
}

/** A publish and the records that it publishes. */
class PublishTrace {
  readonly #span: ActiveSpan | undefined;
  readonly #records: readonly ActiveSpan[];

  constructor(span: ActiveSpan | undefined, records: readonly ActiveSpan[]) {
    this.#span = span;
    this.#records = records;
  }

  /** The bus has accepted the messages. */
  end(): void {
    this.#span?.end();
    for (const record of this.#records) record.end();
  }

  /** The bus has not accepted them. The records are read again, and decided on anew. */
  fail(type: string): void {
    this.#span?.fail(type);
    for (const record of this.#records) record.fail(type);
  }
}

/** The context in a record's headers, which any producer may write; undefined: none, or a malformed one. */
function contextIn(headers: Headers): TraceContext | undefined {
  const parent = textOf(headers['traceparent']);
  if (parent === undefined) return undefined;
  const { tracestate } = headers;
  // Repeated `tracestate` headers are one list; a repeated `traceparent` is malformed.
  const states = Array.isArray(tracestate) ? (tracestate as readonly HeaderValue[]) : [tracestate as HeaderValue];
  const texts = states.length <= 32 ? states.map(textOf).filter((text) => text !== undefined) : [];
  return parseTraceContext(parent, texts.length === 0 ? undefined : texts.join(','));
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) && value.length <= MAX_HEADER_BYTES ? value.toString('latin1') : undefined;
}
