import { SpanKind } from '@opentelemetry/api';
import { EventTrace } from './event-trace.ts';
import type { Spans } from './spans.ts';
import type { TraceContext } from '../../base/trace-context.ts';

export interface TracedEvent {
  readonly channel: string;
  /** Root field of its operations. */
  readonly field: string;
  readonly coordinates: { readonly partition: number; readonly offset: number; readonly trace?: TraceContext };
  /** Bytes of its payload. */
  readonly length: number;
  /** Subscriptions that receive it, and the groups in which they share. */
  readonly members: number;
  readonly groups: number;
}

export interface EventTracesOptions {
  readonly spans: Spans;
  /** See `EventTraceOptions`. */
  readonly isWritten: () => boolean;
  readonly topicOf: (channel: string) => string;
}

/** The spans of a gateway: of the events whose messages carry the context of a sampled record. */
export class EventTraces {
  readonly #options: EventTracesOptions;

  constructor(options: EventTracesOptions) {
    this.#options = options;
  }

  /** Starts the span of an event; undefined: none can be started now. @param schedule see `EventTraceOptions` */
  start(event: TracedEvent, schedule: (job: () => boolean) => void): EventTrace | undefined {
    const { spans, isWritten, topicOf } = this.#options;
    const { channel, field, coordinates, length, members, groups } = event;
    const span = spans.start(`deliver ${field}`, {
      kind: SpanKind.CONSUMER,
      parent: coordinates.trace,
      attributes: {
        'messaging.operation.name': 'deliver',
        'messaging.operation.type': 'process',
        'messaging.destination.name': topicOf(channel),
        'messaging.destination.partition.id': String(coordinates.partition),
        'messaging.kafka.offset': coordinates.offset,
        'messaging.message.body.size': length,
        'crier.members': members,
        'crier.groups': groups,
      },
    });
    return span && new EventTrace({ spans, span, field, schedule, isWritten });
  }
}
