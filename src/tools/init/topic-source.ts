import { setTimeout as delay } from 'node:timers/promises';
import { SetupError, errorOf } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import { headerTexts, keyText } from '../../graph/record-parts.ts';
import type { KafkaRecord, PoisonReason, RecordContent } from '../../kafka/batch.ts';
import { COMPILERS } from '../../kafka/decoding/compilers.ts';
import { UNREAD, UndecodableError } from '../../kafka/decoding/decoder.ts';
import type { RecordDecoders } from '../../kafka/decoding/decoder.ts';
import { describeSchema } from '../../kafka/decoding/describers.ts';
import { recognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { RecordKeys } from '../../kafka/decoding/record-keys.ts';
import { SnakeCase } from '../../kafka/decoding/snake-case.ts';
import { decodeJson } from '../../kafka/decoding/record.ts';
import type { RecordLimits } from '../../kafka/decoding/record.ts';
import { openRegistries } from '../../kafka/decoding/registries.ts';
import type { Registries } from '../../kafka/decoding/registries.ts';
import { SchemaUnavailableError } from '../../kafka/decoding/schema-errors.ts';
import type { RegisteredSchema } from '../../kafka/decoding/schema-registry.ts';
import { TopicDecoders } from '../../kafka/decoding/topic-decoders.ts';
import { TopicGlue } from '../../kafka/decoding/topic-glue.ts';
import type { ValueType } from '../../kafka/decoding/value-type.ts';
import type { GlueId, RegistryId } from '../../kafka/decoding/wire-format.ts';
import { RecentRecords } from '../../kafka/client/recent-records.ts';
import { undecodableReason } from '../../kafka/undecodable-reason.ts';
import type { UndecodableReason } from '../../kafka/undecodable-reason.ts';
import { createLog } from '../../base/log.ts';
import { SCHEMA_REGISTRY_TIMEOUT_MS } from '../../config/limits.ts';
import type { Settings } from '../../config/settings.ts';
import { missingTopic, withKafka } from '../with-kafka.ts';
import { EVERY_PLACE, payloadNames } from './seen-topic.ts';
import type { ReadRecord } from './seen-topic.ts';

const MAX_RECORDS = 200;
const REGISTRY_ATTEMPTS = 20;
const REGISTRY_WAIT_MS = 250;

export interface TopicRecords {
  readonly records: readonly ReadRecord[];
  /** What the schemas of the records say, which a registry has. */
  readonly types: readonly ValueType[];
  /** True if one of them is of a registry with the API of Confluent. */
  readonly hasSchema: boolean;
  /** Of records that are no payloads, how many there are, why the first is none, and what to do. undefined: there are none. */
  readonly undecodable: (UndecodableReason & { readonly count: number }) | undefined;
  /** True: a record has no value. */
  readonly hasTombstones: boolean;
}

/**
 * Reads up to 200 of the newest records of a topic. Joins no group and commits nothing.
 * @throws SetupError if the topic does not exist, is empty, or has no record that crier can decode
 */
export async function readTopic(topic: string, settings: Settings, limits: RecordLimits): Promise<TopicRecords> {
  const newest = await newestRecords(topic, settings);
  const records = newest.filter(({ value, poison }) => value !== null || poison);
  if (records.length === 0) {
    throw new SetupError(
      `the topic "${topic}" has no record with a value; write one first, or add --sample with a file of records`,
    );
  }
  const { read, poison, types, hasSchema } = await decoded(topic, records, settings, limits);
  const reason = poison && undecodableReason(poison.reason, poison.record, settings.names);
  if (read.length === 0 && reason) {
    const { why, fix } = reason;
    throw new SetupError(
      `none of the ${records.length} newest records of the topic "${topic}" can be decoded (${why}); ${fix}`,
    );
  }
  const hasTombstones = records.length < newest.length;
  const undecodable = reason && { ...reason, count: records.length - read.length };
  return { records: read, types, hasSchema, undecodable, hasTombstones };
}

function newestRecords(topic: string, settings: Settings): Promise<readonly KafkaRecord[]> {
  const hint = `; the records of "${topic}" are read from there`;
  return withKafka({ settings, log: createLog('silent'), hint }, async ({ client, cluster }) => {
    if ((await cluster.existingTopics([topic])).length === 0) throw new SetupError(await missingTopic(cluster, topic));
    const ranges = (await cluster.partitionRanges([topic])).get(topic)!;
    return (await (await RecentRecords.connect(client)).read(topic, ranges, MAX_RECORDS)).records;
  });
}

interface DecodedRecords extends Pick<TopicRecords, 'types' | 'hasSchema'> {
  readonly read: readonly ReadRecord[];
  /** Of the first record that is no payload. */
  readonly poison: { readonly reason: PoisonReason; readonly record: RecordContent } | undefined;
}

async function decoded(
  topic: string,
  records: readonly KafkaRecord[],
  settings: Settings,
  limits: RecordLimits,
): Promise<DecodedRecords> {
  const registries = await openRegistries({ ...settings, SCHEMA_REGISTRY_TIMEOUT_MS }, createLog('silent'));
  try {
    const decoders = decodersOf(topic, registries, limits);
    const keys = new RecordKeys({ limits, snakeCase: new SnakeCase(), keyPlace: undefined, decoders: decoders.keys });
    const read: ReadRecord[] = [];
    let poison: DecodedRecords['poison'];
    for (const record of records) {
      const value = record.poison ?? (await patiently(() => valueOf(record, decoders.values, limits)));
      if (typeof value === 'string') poison ??= { reason: value, record };
      else {
        const content = await patiently(() => keys.read(record));
        const { keyValue } = content;
        read.push({ key: keyText(content), keyValue, headers: headerTexts(record.headers), value: value.json });
      }
    }
    const types = await typesOf([...decoders.schemas.values(), ...decoders.glueSchemas.values()]);
    return { read, poison, types, hasSchema: decoders.schemas.size > 0 };
  } finally {
    await registries.close();
  }
}

/** The decoders of a topic, and the schemas that those of its values have used. */
function decodersOf(topic: string, { registry, glue }: Registries, limits: RecordLimits) {
  const schemas = new Map<RegistryId, RegisteredSchema>();
  const glueSchemas = new Map<GlueId, RegisteredSchema>();
  const remembering = registry && {
    isApicurio: registry.isApicurio,
    schema: remembered((id: RegistryId) => registry.schema(id), schemas),
  };
  const topicGlue = glue && new TopicGlue(glue);
  const rememberingGlue = topicGlue && {
    schema: remembered((id: GlueId) => topicGlue.schema(id), glueSchemas),
    nameSchema: (key: Buffer, value: Buffer | null) => topicGlue.nameSchema(key, value),
  };
  const common = { topic, format: undefined, compilers: COMPILERS, log: createLog('silent') };
  const decoderOptions = { limits, onOverflow: () => undefined };
  const ofKeys = { ...decoderOptions, nameOf: snakeCaseName, shape: UNREAD };
  const ofValues = { ...decoderOptions, nameOf: (key: string) => key, shape: EVERY_PLACE };
  return {
    schemas,
    glueSchemas,
    keys: new TopicDecoders({ ...common, part: 'key', registry, glue: topicGlue, decoderOptions: ofKeys }),
    values: new TopicDecoders({
      ...common,
      registry: remembering,
      glue: rememberingGlue,
      decoderOptions: ofValues,
    }),
  };
}

function remembered<Id>(
  schemaOf: (id: Id) => Promise<RegisteredSchema | undefined>,
  schemas: Map<Id, RegisteredSchema>,
): (id: Id) => Promise<RegisteredSchema | undefined> {
  return async (id) => {
    const schema = await schemaOf(id);
    if (schema) schemas.set(id, schema);
    return schema;
  };
}

/** The value with the producer's keys, or why there is none. @throws SchemaUnavailableError */
async function valueOf(
  { value, headers }: KafkaRecord,
  decoders: RecordDecoders,
  limits: RecordLimits,
): Promise<{ readonly json: unknown } | PoisonReason> {
  if (value!.length > limits.maxBytes) return 'too_large';
  try {
    const decoding = await decoders.of(value!, headers);
    const { bodyAt, decoder } = typeof decoding === 'object' ? decoding : { bodyAt: 0, decoder: undefined };
    const body = typeof decoding === 'function' ? decoding(value!) : value!.subarray(bodyAt);
    if (decoder) return { json: decoder.decode(body) };
    const { json, poison } = decodeJson(body, limits);
    if (poison !== undefined) return poison;
    return isJsonObject(json) || recognisedEnvelope(json) !== undefined ? { json } : 'not_object';
  } catch (error) {
    if (error instanceof UndecodableError) return error.reason;
    throw error;
  }
}

async function typesOf(schemas: Iterable<RegisteredSchema>): Promise<readonly ValueType[]> {
  const types: ValueType[] = [];
  for (const schema of schemas) {
    try {
      types.push(await describeSchema(schema, payloadNames));
    } catch (error) {
      // Records of JSON Schema are read whatever their schema is.
      process.stderr.write(`left out: a schema that cannot be used: ${errorOf(error).message}\n`);
    }
  }
  return types;
}

/** @throws SetupError if the schema registry does not answer */
async function patiently<Read>(read: () => Read | Promise<Read>): Promise<Read> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof SchemaUnavailableError)) throw error;
      if (!error.isPending || attempt === REGISTRY_ATTEMPTS) {
        throw new SetupError(error.message, { cause: error });
      }
      await delay(REGISTRY_WAIT_MS);
    }
  }
}
