import { topicOf } from '../bus/channel.ts';
import type { Config } from '../config.ts';
import type { Writer } from '../fanout/outbox/writer.ts';
import { EventTraces } from '../tracing/event-traces.ts';
import { RecordTraces } from '../tracing/record-traces.ts';
import type { Tracing } from '../tracing/tracing.ts';

export function createRecordTraces({ spans, sampler }: Tracing, group: () => string): RecordTraces {
  return new RecordTraces({ spans, sampler, group });
}

export function createEventTraces({ spans }: Tracing, { CHANNEL_PREFIX }: Config, writer: Writer): EventTraces {
  return new EventTraces({
    spans,
    isWritten: () => writer.isIdle,
    topicOf: (channel) => topicOf(channel, CHANNEL_PREFIX),
  });
}
