import { topicOf } from '../bus/channel.ts';
import type { Config } from '../config.ts';
import type { Writer } from '../fanout/outbox/writer.ts';
import { EventTraces } from '../tracing/event-traces.ts';
import { RecordTraces } from '../tracing/record-traces.ts';
import type { Tracing } from '../tracing/tracing.ts';

export function createRecordTraces({ spans, sampler }: Tracing, config: Config): RecordTraces {
  return new RecordTraces({ spans, sampler, group: config.KAFKA_BROKERS.length > 0 ? config.KAFKA_GROUP_ID : '' });
}

export function createEventTraces({ spans }: Tracing, { CHANNEL_PREFIX }: Config, writer: Writer): EventTraces {
  return new EventTraces({
    spans,
    isWritten: () => writer.isIdle,
    topicOf: (channel) => topicOf(channel, CHANNEL_PREFIX),
  });
}
