import type { PathValues } from '../bus/channel.ts';
import { declaredPathOf } from './channel-patterns.ts';
import type { Pattern } from './channel-patterns.ts';
import { FieldTally } from './field-tally.ts';
import { describeKey, isKeyPart, keyText, keyTextAt } from './record-parts.ts';
import type { RecordParts } from './record-parts.ts';
import { RowRouter } from './row-router.ts';
import type { Binding } from './schema/binding.ts';
import { TopicChannels } from './topic-channels.ts';
import type { Route } from './topic-channels.ts';

/**
 * Called once if the key of a record is not what the topic's fields take it for.
 * @param path that it is not the value of, or that it does not have (`keyPathPart`); undefined: the key cannot be read
 * @param found what the key is (`describeKey`)
 * @param problem why a key with a schema could not be decoded
 */
export type OnUnfitKey = (topic: string, path: string | undefined, found: string, problem: string | undefined) => void;

/** Routes the records of one topic. */
export class TopicRouter {
  readonly topic: string;
  /** As of `TopicChannels`, like the next two. */
  readonly paths: readonly (readonly string[])[];
  readonly firstPresence: number;
  readonly valuesBeside: ((record: RecordParts) => PathValues) | undefined;
  /** Routes what the records carry; undefined: the topic has no `envelope`. */
  readonly rows: RowRouter | undefined;
  /** One per field. */
  readonly tallies: readonly FieldTally[];
  /** Records that were counted. */
  records = 0;
  /** Counted records that match no field. */
  unrouted = 0;
  /** Records without a value, by whether a channel got them. `unreadable_key`: those whose channels the key would name, if it had the value. */
  readonly tombstones = { routed: 0, unrouted: 0, unreadable_key: 0 };
  readonly #channels: TopicChannels;
  readonly #tombstonePatterns: readonly Pattern[];
  /** False if tombstones need no value of a payload, or records have shown that the key is not the value. */
  #comparesKey: boolean;
  /** Indexes of the values that tombstones need, and that only their key has. */
  readonly #ofKey: readonly number[];
  /** False if no field matches the key, or it was reported that one cannot be decoded. */
  #matchesKey: boolean;
  readonly #onUnfitKey: OnUnfitKey;
  #hasReportedKey = false;

  /**
   * @param bindings of the topic
   * @param maxValueLength of a matched value: a longer one has no channel, because nobody could subscribe to it (`MAX_CHANNEL_BYTES`)
   */
  constructor(
    topic: string,
    bindings: readonly Binding[],
    prefix: string,
    onUnfitKey: OnUnfitKey = () => undefined,
    maxValueLength = Infinity,
  ) {
    const channels = new TopicChannels(topic, bindings, prefix, maxValueLength);
    const { names, patterns, keyed } = channels;
    const keyedName = keyed === undefined ? undefined : names[keyed];
    const hasEnvelope = bindings.some(({ envelope }) => envelope !== undefined);
    this.topic = topic;
    this.paths = channels.paths;
    this.firstPresence = channels.firstPresence;
    this.valuesBeside = channels.valuesBeside;
    this.tallies = bindings.map((binding) => new FieldTally(binding, (path) => names.indexOf(path), maxValueLength));
    this.#channels = channels;
    this.#tombstonePatterns = patterns.filter(({ takesTombstones }) => takesTombstones);
    this.#comparesKey = !hasEnvelope && keyedName !== undefined && keyedName === declaredPathOf(bindings);
    this.#matchesKey = names.some(isKeyPart);
    const named = this.#tombstonePatterns.filter(({ history }) => history?.keyIndex === undefined);
    const ofKey = named.flatMap(({ keys }) => keys.filter(({ path }) => isKeyPart(path) || path === keyedName));
    this.#ofKey = [...new Set(ofKey.flatMap(({ index }) => index ?? []))];
    this.#onUnfitKey = onUnfitKey;
    if (hasEnvelope)
      this.rows = new RowRouter(channels, bindings, this, (record, path) => this.#reportKey(record, path));
  }

  /** Counts on from the router of the same topic of another graph. */
  continueFrom(router: TopicRouter): void {
    const { records, unrouted, tombstones } = router;
    Object.assign(this, { records, unrouted });
    Object.assign(this.tombstones, tombstones);
    this.#channels.continueFrom(router.#channels);
    if (router.rows) this.rows?.continueFrom(router.rows);
    for (const tally of this.tallies) {
      const former = router.tallies.find(({ field }) => field === tally.field);
      if (former) Object.assign(tally, { matched: former.matched, unmatched: { ...former.unmatched } });
    }
  }

  valuesIn(payload: unknown): PathValues {
    return this.#channels.valuesIn(payload);
  }

  /** Counts a record with these values, once. */
  count(values: PathValues, record: RecordParts): void {
    if (this.#comparesKey) this.#compareKey(values, record);
    if (this.#matchesKey && record.keyProblem !== undefined) {
      this.#matchesKey = false;
      this.#reportKey(record);
    }
    this.records++;
    let isRouted = false;
    for (const tally of this.tallies) if (tally.count(values)) isRouted = true;
    if (!isRouted) this.unrouted++;
  }

  /** The channels of a record with these values, for all bindings of the topic, each once; before them, those that it has left. */
  channels(values: PathValues, record: RecordParts): Route[] {
    return this.#channels.ofRecord(values, record);
  }

  /** The channels of a record without a value, each once; counts it. */
  tombstoneChannels(record: RecordParts): Route[] {
    const values = [...this.#valuesOfKeyedPath(record), ...(this.valuesBeside?.(record) ?? [])];
    const channels = this.#channels.named(values, this.#tombstonePatterns);
    channels.push(...this.#channels.statesOf(record));
    const missing = record.key === null ? undefined : this.#ofKey.find((index) => values[index] === undefined);
    const isUnreadable = missing !== undefined;
    if (isUnreadable) this.#reportKey(record, this.#channels.names[missing]);
    this.tombstones[isUnreadable ? 'unreadable_key' : channels.length > 0 ? 'routed' : 'unrouted']++;
    return channels;
  }

  /** Of the payload, a pattern that takes tombstones reads one value at most. */
  #valuesOfKeyedPath(record: RecordParts): PathValues {
    const { keyed } = this.#channels;
    const text = keyed === undefined ? undefined : keyTextAt(record, this.paths[keyed]!);
    return this.paths.map(() => text);
  }

  /** Reports that the key is not the value that tombstones take it for. A record without that value says nothing. */
  #compareKey(values: PathValues, record: RecordParts): void {
    const keyed = this.#channels.keyed!;
    const path = this.paths[keyed]!;
    if (values[keyed] === undefined || values[keyed] === keyTextAt(record, path)) return;
    this.#comparesKey = false;
    this.#reportKey(record, path.join('.'));
  }

  /** Once. @param path that the key is not the value of, or that it does not have */
  #reportKey(record: RecordParts, path?: string): void {
    if (this.#hasReportedKey) return;
    this.#hasReportedKey = true;
    const isReadable = record.key === null || record.keyValue !== undefined || keyText(record) !== undefined;
    this.#onUnfitKey(this.topic, isReadable ? path : undefined, describeKey(record), record.keyProblem);
  }
}

/** Routers by topic; a topic without a field has none. */
export function createRouters(
  bindings: Iterable<Binding>,
  prefix: string,
  onUnfitKey?: OnUnfitKey,
  maxValueLength?: number,
): ReadonlyMap<string, TopicRouter> {
  const groups = new Map<string, Binding[]>();
  for (const binding of bindings) {
    for (const topic of binding.topics) groups.set(topic, [...(groups.get(topic) ?? []), binding]);
  }
  return new Map(
    [...groups].map(([topic, group]) => [topic, new TopicRouter(topic, group, prefix, onUnfitKey, maxValueLength)]),
  );
}
