import type { DecoderOptions, KeyDecoders, RecordDecoders } from './decoder.ts';
import { valuePlace } from './envelopes/envelope.ts';
import { envelopeOf } from './envelopes/envelopes.ts';
import type { NamedEnvelope } from './envelopes/envelopes.ts';
import { ownFormats } from './own-format.ts';
import type { TopicOfFormat } from './own-format.ts';
import { TopicDecoders } from './topic-decoders.ts';
import type { TopicDecodersOptions } from './topic-decoders.ts';

/** By topic: the decoders of a graph's records. */
export interface GraphDecoders {
  /** Of topics whose values may be other than JSON. */
  readonly values: ReadonlyMap<string, RecordDecoders>;
  /** Of keys with a schema; without a registry there are none. */
  readonly keys: ReadonlyMap<string, KeyDecoders>;
}

/** What a graph reads of one topic, and what it says of the format of the topic's records (graph/schema/topic-reads.ts). */
interface DecodedTopic extends Pick<DecoderOptions, 'nameOf' | 'shape'>, TopicOfFormat {
  readonly format: string | undefined;
  readonly subject?: string | undefined;
  readonly envelope?: NamedEnvelope | undefined;
}

type Options = Pick<TopicDecodersOptions, 'registry' | 'glue' | 'compilers' | 'log'> &
  Pick<DecoderOptions, 'limits' | 'onOverflow'>;

export function graphDecoders(topics: readonly DecodedTopic[], options: Options): GraphDecoders {
  return { values: valueDecoders(topics, options), keys: keyDecoders(topics, options) };
}

function valueDecoders(
  topics: readonly DecodedTopic[],
  { limits, onOverflow, ...options }: Options,
): ReadonlyMap<string, RecordDecoders> {
  const decoders = new Map<string, RecordDecoders>(ownFormats(topics, options.log));
  for (const { topic, format, subject, envelope, nameOf, shape: rows } of topics) {
    if (format === 'JSON' || decoders.has(topic)) continue;
    const shape = envelope ? valuePlace(envelopeOf(envelope), rows) : rows;
    const decoderOptions = { nameOf, shape, limits, onOverflow };
    const ofSchemas = schemaFormat(format);
    decoders.set(topic, new TopicDecoders({ ...options, topic, format: ofSchemas, subject, decoderOptions }));
  }
  return decoders;
}

/** Each key names its schema, whatever the format of the topic's values. */
function keyDecoders(
  topics: readonly DecodedTopic[],
  { limits, onOverflow, ...options }: Options,
): ReadonlyMap<string, KeyDecoders> {
  return new Map(
    topics.map(({ topic, nameOf, shape }) => {
      const decoderOptions = { nameOf, shape, limits, onOverflow };
      return [topic, new TopicDecoders({ ...options, part: 'key', topic, format: undefined, decoderOptions })];
    }),
  );
}

/** @throws TypeError for a format that has neither schemas nor a decoder of the graph */
function schemaFormat(format: string | undefined): TopicDecodersOptions['format'] {
  switch (format) {
    case undefined:
    case 'AVRO':
    case 'PROTOBUF':
    case 'JSON_SCHEMA':
      return format;
    default:
      throw new TypeError(`the format ${format} has no decoder`);
  }
}
