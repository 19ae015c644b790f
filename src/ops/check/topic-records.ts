import type { Config } from '../../config/config.ts';
import type { Graph } from '../../graph/graph-parts.ts';
import { checkRecords } from '../../graph/record-check/record-check.ts';
import type { RecordMisfit } from '../../graph/record-check/record-check.ts';
import type { RecordOrigin, ShownEnvelope, Unread } from '../../graph/record-check/described.ts';
import { envelopeFix } from '../../graph/record-check/envelope-check.ts';
import type { CheckedRecord } from '../../graph/record-check/key-check.ts';
import { keyedTopics } from '../../graph/keyed-topics.ts';
import { keyPlaces } from '../../graph/schema/key-places.ts';
import { topicReads } from '../../graph/schema/topic-reads.ts';
import type { RecordContent } from '../../kafka/batch.ts';
import { ConnectSchemas } from '../../kafka/decoding/connect/connect-schemas.ts';
import { valuePlace } from '../../kafka/decoding/envelopes/envelope.ts';
import { envelopeOf } from '../../kafka/decoding/envelopes/envelopes.ts';
import { LIKENESSES, otherEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import type { RecognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { PayloadReader } from '../../kafka/decoding/payload-reader.ts';
import type { ReadEnvelope } from '../../kafka/decoding/payload-reader.ts';
import type { RecordLimits } from '../../kafka/decoding/record.ts';
import { FormatUnavailableError, SchemaUnavailableError } from '../../kafka/decoding/schema-errors.ts';
import { recordKeysOf } from '../../kafka/decoding/record-keys.ts';
import type { RecordKeys } from '../../kafka/decoding/record-keys.ts';
import type { GraphDecoders } from '../../kafka/decoding/graph-decoders.ts';
import { SnakeCase } from '../../kafka/decoding/snake-case.ts';
import { keyFix, undecodableReason } from '../../kafka/undecodable-reason.ts';
import type { UndecodableReason } from '../../kafka/undecodable-reason.ts';
import type { ReadRecord } from './newest-records.ts';

const FORMAT_FIX = 'install the packages that it imports, or correct it in formats.ts';

/** The newest of the records of a topic that cannot be decoded. */
export interface UndecodableRecord extends UndecodableReason {
  readonly partition: number;
  readonly offset: string;
  /** With all others that cannot be decoded. */
  readonly count: number;
}

/** What was found in the records of one topic. */
export interface CheckedTopic {
  readonly topic: string;
  /** Records that were decoded and compared. */
  readonly records: number;
  readonly misfits: readonly RecordMisfit[];
  /** Absent: all can be decoded. */
  readonly undecodable?: UndecodableRecord;
}

/** Compares the newest records of the graph's topics with its bindings and types. Joins no group and commits nothing. */
export class TopicRecords {
  readonly #config: Config;
  readonly #graph: Graph;
  readonly #payloads: PayloadReader;
  readonly #keys: ReadonlyMap<string, RecordKeys>;

  constructor(config: Config, graph: Graph, { values, keys }: GraphDecoders) {
    this.#config = config;
    this.#graph = graph;
    const bindings = [...graph.bindings.values()];
    const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
    const options = { limits, keyPlaces: keyPlaces(bindings, graph.shapes) };
    this.#payloads = new PayloadReader({ ...options, decoders: values, envelopes: envelopesOf(graph, limits) });
    this.#keys = recordKeysOf(keyedTopics(bindings), { ...options, decoders: keys, snakeCase: new SnakeCase() });
  }

  get topics(): readonly string[] {
    return [...this.#graph.shapes.keys()];
  }

  /**
   * Omits topics that are away, empty, not readable, or whose schemas cannot be had now.
   * @param count of the newest records of each topic; default: 50
   * @throws Error if Kafka does not answer in 20 s, or once `signal` is aborted
   */
  async check(topics: readonly string[], signal?: AbortSignal, count?: number): Promise<CheckedTopic[]> {
    // kafkajs, which sample records do not need.
    const { newestRecords } = await import('./newest-records.ts');
    const checked: CheckedTopic[] = [];
    for await (const { topic, records, unread } of newestRecords(this.#config, topics, signal, count)) {
      const found = await this.checkRecords(topic, records, 'what the producer writes', unread);
      if (found) checked.push(found);
    }
    return checked;
  }

  /** undefined: there is nothing to compare. @param records of the topic, the newest last */
  async checkRecords(
    topic: string,
    records: readonly ReadRecord[],
    origin: RecordOrigin,
    unread?: Unread,
  ): Promise<CheckedTopic | undefined> {
    const compared: CheckedRecord[] = [];
    let undecodable: UndecodableRecord | undefined;
    for (const { partition, offset, key, value, headers, poison } of records) {
      if (value === null && !poison) continue;
      const decoded = poison ? { poison } : await this.#decode({ topic, key, value, headers });
      if (decoded === 'unavailable') return undefined;
      if (!decoded) continue;
      const at = { partition, offset };
      if (decoded instanceof FormatUnavailableError) {
        const count = records.filter((record) => record.value !== null).length;
        return { topic, records: 0, misfits: [], undecodable: { ...at, count, why: decoded.message, fix: FORMAT_FIX } };
      }
      const shown = 'recognised' in decoded ? this.#otherEnvelope(topic, decoded.recognised) : undefined;
      if (decoded.poison === undefined) {
        const { payload, change, content, isUntyped } = decoded;
        compared.push({
          ...at,
          ...content,
          payload,
          ...(change && { change }),
          ...(shown && { shown }),
          ...(content.keyProblem !== undefined && { keyFix: keyFix(content.keyProblem, this.#config.names) }),
          // A connector has written no samples.
          isUntyped: isUntyped === true && origin === 'what the producer writes',
        });
      } else {
        const { why, fix } = undecodableReason(decoded.poison, { value, headers }, this.#config.names);
        const reason = shown ? { why: decoded.poison, fix: envelopeFix(shown) } : { why, fix };
        undecodable = { ...at, ...reason, count: (undecodable?.count ?? 0) + 1 };
      }
    }
    if (compared.length === 0) return undecodable && { topic, records: 0, misfits: [], undecodable };
    const hasTombstones = records.some(({ value, poison }) => value === null && !poison);
    const misfits = checkRecords(this.#graph, topic, compared, origin, { hasTombstones, unread });
    return { topic, records: compared.length, misfits, ...(undecodable && { undecodable }) };
  }

  /** What a value shows that is not the topic's envelope. undefined: it may be of the topic's. */
  #otherEnvelope(topic: string, recognised: RecognisedEnvelope | undefined): ShownEnvelope | undefined {
    const envelope = [...this.#graph.bindings.values()].find(({ topics }) => topics.includes(topic))?.envelope;
    const isOwn = envelope !== undefined && this.#graph.envelopes[envelope] !== undefined;
    const shown = isOwn ? undefined : otherEnvelope(recognised, envelope);
    return shown && { name: shown, likeness: LIKENESSES[shown] };
  }

  /** `unavailable`: a schema cannot be had now, or the format is still being loaded. undefined: it is of no row that is there. */
  async #decode(record: RecordContent) {
    const { topic, value } = record;
    try {
      const decoded = await this.#payloads.read(record, value!);
      if (!decoded || decoded.poison !== undefined) return decoded;
      return { ...decoded, content: (await this.#keys.get(topic)?.read(record)) ?? record };
    } catch (error) {
      if (error instanceof FormatUnavailableError && !error.isPending) return error;
      if (error instanceof SchemaUnavailableError) return 'unavailable';
      throw error;
    }
  }
}

function envelopesOf(graph: Graph, limits: RecordLimits): ReadonlyMap<string, ReadEnvelope> {
  const envelopes = topicReads(graph).flatMap(({ topic, envelope: named, nameOf, shape }) => {
    if (!named) return [];
    const envelope = envelopeOf(named);
    const options = { nameOf, shape: valuePlace(envelope, shape), limits, onOverflow: () => undefined };
    return [[topic, { envelope, schemas: new ConnectSchemas(options) }] as const];
  });
  return new Map(envelopes);
}
