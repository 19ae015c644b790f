import { setTimeout as delay } from 'node:timers/promises';
import { MAX_RECORD_DEPTH } from '../../config/limits.ts';
import { SetupError } from '../../base/errors.ts';
import { keyText } from '../../graph/record-parts.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import type { KafkaRecord, PoisonReason, RecordContent } from '../../kafka/batch.ts';
import { COMPILERS } from '../../kafka/decoding/compilers.ts';
import { UNREAD } from '../../kafka/decoding/decoder.ts';
import { graphDecoders } from '../../kafka/decoding/graph-decoders.ts';
import { PayloadReader } from '../../kafka/decoding/payload-reader.ts';
import { RecordKeys } from '../../kafka/decoding/record-keys.ts';
import { SnakeCase } from '../../kafka/decoding/snake-case.ts';
import type { Decoded } from '../../kafka/decoding/record.ts';
import { openRegistries } from '../../kafka/decoding/registries.ts';
import { SchemaUnavailableError } from '../../kafka/decoding/schema-errors.ts';
import { SCHEMA_HEADERS, nameSchema } from '../../kafka/decoding/schema-headers.ts';
import { GLUE_BYTE, MAGIC_BYTE } from '../../kafka/decoding/wire-format.ts';
import { RecentRecords } from '../../kafka/client/recent-records.ts';
import { undecodableReason } from '../../kafka/undecodable-reason.ts';
import { createLog } from '../../base/log.ts';
import type { Settings } from '../../config/settings.ts';
import { missingTopic, withKafka } from '../with-kafka.ts';
import type { SeenRecord } from './seen-record.ts';

const MAX_RECORDS = 200;
const REGISTRY_ATTEMPTS = 20;
const REGISTRY_WAIT_MS = 250;

type ReadRecord = (Decoded | { readonly poison: PoisonReason; readonly payload?: undefined }) & {
  /** The record with its key decoded. */
  readonly content: RecordContent;
};

export interface TopicRecords {
  readonly records: readonly SeenRecord[];
  /** True if a record has a schema of a registry with the API of Confluent. */
  readonly hasSchema: boolean;
  /** Records that are no payloads. */
  readonly undecodable: number;
}

/**
 * Reads up to 200 of the newest records of a topic. Joins no group and commits nothing.
 * @throws SetupError if the topic does not exist, is empty, or has no record that crier can decode
 */
export async function readTopic(topic: string, settings: Settings): Promise<TopicRecords> {
  const records = (await newestRecords(topic, settings)).filter(({ value, poison }) => value !== null || poison);
  if (records.length === 0) {
    throw new SetupError(
      `the topic "${topic}" has no record with a value; write one first, or add --sample with a file of records`,
    );
  }
  const read = await decoded(topic, records, settings);
  const seen = read.flatMap(({ payload, content }): SeenRecord[] => {
    if (!payload) return [];
    const { value } = content;
    const written = hasSchema(content) ? payload : (parseExactly(value!.toString()) as Record<string, unknown>);
    return [{ key: keyText(content), keyMembers: membersOf(content), value: written, payload }];
  });
  const [poison] = read.flatMap(({ poison: reason, content }) => (reason ? { reason, record: content } : []));
  if (seen.length === 0 && poison) {
    const { why, fix } = undecodableReason(poison.reason, poison.record, settings.names);
    throw new SetupError(
      `none of the ${records.length} newest records of the topic "${topic}" can be decoded (${why}); ${fix}`,
    );
  }
  const ofGlue = ({ value }: KafkaRecord) => value?.[0] === GLUE_BYTE;
  return {
    records: seen,
    hasSchema: records.some((record) => hasSchema(record) && !ofGlue(record)),
    undecodable: records.length - seen.length,
  };
}

/** True if a record may name a schema of a registry. */
function hasSchema({ value, headers }: Pick<RecordContent, 'value' | 'headers'>): boolean {
  const [first] = value ?? [];
  return first === MAGIC_BYTE || first === GLUE_BYTE || nameSchema(headers, SCHEMA_HEADERS.value);
}

function newestRecords(topic: string, settings: Settings): Promise<readonly KafkaRecord[]> {
  const hint = `; the records of "${topic}" are read from there`;
  return withKafka({ settings, log: createLog('silent'), hint }, async ({ client, cluster }) => {
    if ((await cluster.existingTopics([topic])).length === 0) throw new SetupError(await missingTopic(cluster, topic));
    const ranges = (await cluster.partitionRanges([topic])).get(topic)!;
    return (await RecentRecords.connect(client)).read(topic, ranges, MAX_RECORDS);
  });
}

async function decoded(
  topic: string,
  records: readonly KafkaRecord[],
  settings: Settings,
): Promise<readonly ReadRecord[]> {
  const log = createLog('silent');
  const limits = { maxBytes: settings.MAX_RECORD_BYTES, maxDepth: MAX_RECORD_DEPTH };
  const registries = await openRegistries(settings, log);
  // Decimals and times are texts, as for fields of String.
  const reads = { topic, format: undefined, nameOf: snakeCaseName, shape: UNREAD };
  const options = { ...registries, compilers: COMPILERS, limits, onOverflow: () => undefined, log };
  const { values, keys } = graphDecoders([reads], options);
  const payloads = new PayloadReader({ limits, decoders: values, keyPlaces: new Map() });
  const recordKeys = new RecordKeys({
    limits,
    snakeCase: new SnakeCase(),
    keyPlace: undefined,
    decoders: keys.get(topic),
  });
  const read: ReadRecord[] = [];
  try {
    for (const record of records) {
      const { value, poison } = record;
      const payload = poison ? { poison } : await patiently(() => payloads.read(record, value!));
      if (payload) read.push({ ...payload, content: await patiently(() => recordKeys.read(record)) });
    }
    return read;
  } finally {
    await registries.close();
  }
}

/** Of a key that is a struct; empty: it is none. */
function membersOf({ keyValue }: RecordContent): readonly string[] {
  return typeof keyValue === 'object' && keyValue !== null ? Object.keys(keyValue) : [];
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
