import { topicOf } from '../bus/channel.ts';
import type { Config } from '../config/config.ts';
import type { Writer } from '../gateway/fanout/outbox/writer.ts';
import { EventTraces } from '../ops/tracing/event-traces.ts';
import { RecordTraces } from '../ops/tracing/record-traces.ts';
import type { Tracing } from '../ops/tracing/tracing.ts';

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
