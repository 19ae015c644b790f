import { TOMBSTONE } from '../../bus/bus-message.ts';
import type { PathValues } from '../../bus/channel.ts';
import type { KeyPlace } from '../../base/json/key-place.ts';
import { PendingConversion } from '../batch.ts';
import type { Conversion, Converted, Destination, RecordContent } from '../batch.ts';
import { KeyRewriter } from './key-rewriter.ts';
import { KeyTree } from './key-tree.ts';
import { decodeRecord } from './record.ts';
import type { RecordLimits } from './record.ts';
import { UndecodableError } from './decoder.ts';
import type { RecordDecoders, RecordDecoding } from './decoder.ts';
import { ChangeConverter } from './envelopes/change-converter.ts';
import type { EnvelopeOptions, RowRoutes } from './envelopes/change-converter.ts';
import type { RecordKeys } from './record-keys.ts';
import type { SnakeCase } from './snake-case.ts';

/** Which channels the records of a topic belong to. */
export interface TopicRoutes {
  /** Paths in a payload whose values select the channels. */
  readonly paths: readonly (readonly string[])[];
  /** From this path index on an object or a list counts as a value, too: ''. */
  readonly firstPresence: number;
  /** A record's values beside its payload, which follow those of the payload; undefined: the channels depend on none. */
  readonly valuesBeside?: ((record: RecordContent) => PathValues) | undefined;
  /** Of the rows that records carry; absent: the topic has no `envelope`. */
  readonly rows?: RowRoutes | undefined;
  valuesIn(payload: unknown): PathValues;
  /** Counts a record as matched or unmatched. */
  count(values: PathValues, record: RecordContent): void;
  /** Channels of a record, each once. */
  channels(values: PathValues, record: RecordContent): readonly Destination[];
  /** Channels of a record without a value; counts it. */
  tombstoneChannels(record: RecordContent): readonly Destination[];
}

/** Most records that are parsed before the rewriter is tried again. Even, so that alternating records cannot lock it out. */
const MAX_PAUSE = 62;

interface Topic {
  readonly routes: TopicRoutes;
  readonly keys: KeyTree;
  /** undefined: every record is JSON. */
  readonly decoders: RecordDecoders | undefined;
  /** undefined: no field needs the decoded keys of records. */
  readonly recordKeys: RecordKeys | undefined;
  /** Of the whole payload; undefined: no object keeps its keys. */
  readonly keyPlace: KeyPlace | undefined;
  /** undefined: a record is the payload itself. */
  readonly changes: ChangeConverter | undefined;
  /** Records to parse after the last one that the rewriter declined: 2, then about twice as many each time. */
  pause: number;
  /** Records of that pause that are left. */
  pauseLeft: number;
}

export interface ConverterOptions {
  /** False: every record is parsed. */
  readonly hasRewriter?: boolean;
  /** By topic, of its whole payloads. A topic without one keeps no keys. */
  readonly keyPlaces?: ReadonlyMap<string, KeyPlace>;
  /** Of topics whose records may be other than JSON. */
  readonly decoders?: ReadonlyMap<string, RecordDecoders>;
  /** Of topics whose records carry rows that changed. */
  readonly envelopes?: ReadonlyMap<string, EnvelopeOptions>;
  /** Of topics whose fields need the decoded keys of records. */
  readonly recordKeys?: ReadonlyMap<string, RecordKeys>;
}

const NO_CHANNEL: Conversion = { payload: '', destinations: [] };

/**
 * Converts records to payloads and channels. Most records go through the key rewriter. A record that it declines is parsed, renamed
 * and printed, with the same text and channels as its result: this also finds the reason of a poison record, and counts properties that
 * SnakeCase drops. While the rewriter declines many records in a row, it is tried with about one in 63 of them.
 */
export class Converter {
  readonly #limits: RecordLimits;
  readonly #snakeCase: SnakeCase;
  /** Undefined: every record is parsed. */
  readonly #rewriter: KeyRewriter | undefined;
  readonly #topics: ReadonlyMap<string, Topic>;

  /** `routes`: by topic. Records of other topics have no channels. */
  constructor(
    routes: ReadonlyMap<string, TopicRoutes>,
    limits: RecordLimits,
    snakeCase: SnakeCase,
    {
      hasRewriter = true,
      decoders = new Map(),
      keyPlaces = new Map(),
      recordKeys = new Map(),
      envelopes = new Map(),
    }: ConverterOptions = {},
  ) {
    this.#limits = limits;
    this.#snakeCase = snakeCase;
    this.#rewriter = hasRewriter ? new KeyRewriter(limits) : undefined;
    this.#topics = new Map(
      [...routes].map(([name, of]) => {
        const keyPlace = keyPlaces.get(name);
        const keys = new KeyTree(of.paths, of.firstPresence, keyPlace);
        const envelope = envelopes.get(name);
        const changes =
          envelope &&
          of.rows &&
          new ChangeConverter({
            ...envelope,
            routes: of.rows,
            keys,
            keyPlace,
            limits,
            snakeCase,
            rewriter: this.#rewriter,
          });
        const reads = { decoders: decoders.get(name), recordKeys: recordKeys.get(name) };
        return [name, { routes: of, keys, keyPlace, changes, ...reads, pause: 0, pauseLeft: 0 }];
      }),
    );
  }

  /**
   * A promise only while the record's schema is fetched.
   * @throws SchemaUnavailableError, also as a rejection
   */
  convert(record: RecordContent): Converted | Promise<Converted> {
    const bound = this.#topics.get(record.topic);
    if (bound?.recordKeys === undefined) return this.#convert(bound, record);
    const content = bound.recordKeys.read(record);
    if (content === record) return this.#convert(bound, record);
    return content instanceof Promise
      ? content.then((decoded) => this.#convertKeyed(bound, decoded))
      : this.#convertKeyed(bound, content);
  }

  #convertKeyed(bound: Topic, content: RecordContent): Converted | Promise<Converted> {
    const conversion = this.#convert(bound, content);
    return conversion instanceof Promise
      ? conversion.then((fetched) => withContent(fetched, content))
      : withContent(conversion, content);
  }

  #convert(bound: Topic | undefined, record: RecordContent): Converted | Promise<Converted> {
    const { value } = record;
    if (value === null) return bound ? tombstoneOf(bound, record) : NO_CHANNEL;
    if (bound?.decoders !== undefined) return this.#decode(bound, bound.decoders, record, value);
    return this.#convertJson(bound, record, value);
  }

  #convertJson(bound: Topic | undefined, record: RecordContent, value: Buffer): Converted | Promise<Converted> {
    if (bound?.changes) return changeOf(() => bound.changes!.convertJson(record, value));
    const rewriter = this.#rewriter;
    return (rewriter && bound && rewrite(rewriter, bound, record, value)) ?? this.#parse(bound, record, value);
  }

  #decode(
    topic: Topic,
    decoders: RecordDecoders,
    record: RecordContent,
    value: Buffer,
  ): Converted | Promise<Converted> {
    if (value.length > this.#limits.maxBytes) return { poison: 'too_large' };
    try {
      const decoding = decoders.of(value, record.headers);
      if (!(decoding instanceof Promise)) return this.#convertBy(decoding, topic, record, value);
      return decoding.then((fetched) => this.#convertBy(fetched, topic, record, value)).catch(poisonOf);
    } catch (error) {
      return poisonOf(error);
    }
  }

  /** @throws UndecodableError */
  #convertBy(
    decoding: RecordDecoding,
    topic: Topic,
    record: RecordContent,
    value: Buffer,
  ): Converted | Promise<Converted> {
    if (decoding === 'json') return this.#convertJson(topic, record, value);
    if (typeof decoding === 'function') return this.#convertJson(topic, record, decoding(value));
    const { bodyAt, decoder } = decoding;
    const body = value.subarray(bodyAt);
    if (decoder === undefined) return this.#convertJson(topic, record, body);
    const payload = decoder.decode(body);
    if (topic.changes) return topic.changes.convertDecoded(record, payload);
    const destinations = destinationsOf(topic.routes, record, topic.routes.valuesIn(payload));
    return destinations.length === 0 ? NO_CHANNEL : { payload: JSON.stringify(payload), destinations };
  }

  #parse(topic: Topic | undefined, record: RecordContent, value: Buffer): Conversion {
    const decoded = decodeRecord(value, this.#limits);
    if (decoded.poison !== undefined) return decoded;
    const payload = this.#snakeCase.convertObjToSnakeKeys(decoded.payload, topic?.keyPlace);
    const destinations = topic ? destinationsOf(topic.routes, record, topic.routes.valuesIn(payload)) : [];
    return destinations.length === 0 ? NO_CHANNEL : { payload: JSON.stringify(payload), destinations };
  }
}

function withContent(conversion: Conversion, content: RecordContent): Conversion;
function withContent(conversion: Converted, content: RecordContent): Converted;
function withContent(conversion: Converted, content: RecordContent): Converted {
  if (conversion instanceof PendingConversion) {
    const { channel, finish } = conversion;
    return new PendingConversion(channel, () => finish().then((finished) => withContent(finished, content)));
  }
  return conversion.poison === undefined ? { ...conversion, content } : conversion;
}

function poisonOf(error: unknown): Conversion {
  if (error instanceof UndecodableError) return { poison: error.reason };
  throw error;
}

/** Undefined: the rewriter pauses, or declined the record. */
function rewrite(rewriter: KeyRewriter, topic: Topic, record: RecordContent, value: Buffer): Conversion | undefined {
  if (topic.pauseLeft > 0) {
    topic.pauseLeft--;
    return undefined;
  }
  const values = rewriter.rewrite(value, topic.keys);
  topic.pause = values ? 0 : Math.min(topic.pause * 2 + 2, MAX_PAUSE);
  topic.pauseLeft = topic.pause;
  if (!values) return undefined;
  const destinations = destinationsOf(topic.routes, record, values);
  return destinations.length === 0 ? NO_CHANNEL : { payload: rewriter.payload(), destinations };
}

function changeOf(convert: () => Converted | Promise<Converted>): Converted | Promise<Converted> {
  try {
    return convert();
  } catch (error) {
    return poisonOf(error);
  }
}

function tombstoneOf({ routes, changes }: Topic, record: RecordContent): Conversion {
  if (changes) return changes.convertTombstone(record);
  const destinations = routes.tombstoneChannels(record);
  return destinations.length === 0 ? NO_CHANNEL : { payload: TOMBSTONE, destinations };
}

/** @param ofPayload the values of the record's payload */
function destinationsOf(routes: TopicRoutes, record: RecordContent, ofPayload: PathValues): readonly Destination[] {
  const values = routes.valuesBeside ? [...ofPayload, ...routes.valuesBeside(record)] : ofPayload;
  routes.count(values, record);
  return routes.channels(values, record);
}
