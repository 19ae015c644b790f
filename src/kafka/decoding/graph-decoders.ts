import type { DecoderOptions, KeyDecoders, RecordDecoders } from './decoder.ts';
import { valuePlace } from './envelopes/envelope.ts';
import { envelopeOf } from './envelopes/envelopes.ts';
import type { NamedEnvelope } from './envelopes/envelopes.ts';
import { ownFormats } from './own-format.ts';
import type { TopicOfFormat } from './own-format.ts';
import { TopicDecoders } from './topic-decoders.ts';
import type { TopicDecodersOptions } from './topic-decoders.ts';
import type { GlueRegistry } from './glue-registry.ts';
import { TopicGlue } from './topic-glue.ts';

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

interface Options
  extends Pick<TopicDecodersOptions, 'registry' | 'compilers' | 'log'>, Pick<DecoderOptions, 'limits' | 'onOverflow'> {
  /** undefined: AWS Glue is not asked. */
  readonly glue?: Pick<GlueRegistry, 'schema'> | undefined;
}

interface OptionsOfTopics extends Omit<Options, 'glue'> {
  /** Empty: AWS Glue is not asked. */
  readonly glues: ReadonlyMap<string, TopicGlue>;
}

export function graphDecoders(topics: readonly DecodedTopic[], { glue, ...options }: Options): GraphDecoders {
  const glues = new Map(glue ? topics.map(({ topic, format }) => [topic, new TopicGlue(glue, format)] as const) : []);
  return { values: valueDecoders(topics, { ...options, glues }), keys: keyDecoders(topics, { ...options, glues }) };
}

function valueDecoders(
  topics: readonly DecodedTopic[],
  { limits, onOverflow, glues, ...options }: OptionsOfTopics,
): ReadonlyMap<string, RecordDecoders> {
  const decoders = new Map<string, RecordDecoders>(ownFormats(topics, options.log));
  for (const { topic, format, subject, envelope, nameOf, shape: rows } of topics) {
    if (format === 'JSON' || decoders.has(topic)) continue;
    const shape = envelope ? valuePlace(envelopeOf(envelope), rows) : rows;
    const decoderOptions = { nameOf, shape, limits, onOverflow };
    const ofSchemas = schemaFormat(format);
    const glue = glues.get(topic);
    decoders.set(topic, new TopicDecoders({ ...options, glue, topic, format: ofSchemas, subject, decoderOptions }));
  }
  return decoders;
}

/** Each key names its schema, whatever the format of the topic's values. */
function keyDecoders(
  topics: readonly DecodedTopic[],
  { limits, onOverflow, glues, ...options }: OptionsOfTopics,
): ReadonlyMap<string, KeyDecoders> {
  return new Map(
    topics.map(({ topic, nameOf, shape }) => {
      const decoderOptions = { nameOf, shape, limits, onOverflow };
      const glue = glues.get(topic);
      return [topic, new TopicDecoders({ ...options, glue, part: 'key', topic, format: undefined, decoderOptions })];
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
