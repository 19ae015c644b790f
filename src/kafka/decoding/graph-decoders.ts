import type { DecoderOptions, RecordDecoders } from './decoder.ts';
import { TopicDecoders, topicDecoders } from './topic-decoders.ts';

/** By topic: the decoders of a graph's records. */
export interface GraphDecoders {
  /** Of topics whose values may be other than JSON. */
  readonly values: ReadonlyMap<string, RecordDecoders>;
  /** Of keys with a schema; without a registry there are none. */
  readonly keys: ReadonlyMap<string, RecordDecoders>;
}

type Options = Parameters<typeof topicDecoders>[1];

export function graphDecoders(topics: Parameters<typeof topicDecoders>[0], options: Options): GraphDecoders {
  return { values: topicDecoders(topics, options), keys: keyDecoders(topics, options) };
}

/** Each key names its schema, whatever the format of the topic's values. */
function keyDecoders(
  topics: readonly ({ readonly topic: string } & Pick<DecoderOptions, 'nameOf' | 'shape'>)[],
  { limits, onOverflow, ...options }: Options,
): ReadonlyMap<string, RecordDecoders> {
  return new Map(
    topics.map(({ topic, nameOf, shape }) => {
      const decoderOptions = { nameOf, shape, limits, onOverflow };
      return [topic, new TopicDecoders({ ...options, part: 'key', topic, format: undefined, decoderOptions })];
    }),
  );
}
