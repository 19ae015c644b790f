import { createHash } from 'node:crypto';
import { STATES_OF_KEY } from '../bus/bus-message.ts';
import { channelName } from '../bus/channel.ts';
import type { ChannelKey, PathValues } from '../bus/channel.ts';
import type { Retention } from '../bus/history.ts';
import { valueAt } from '../base/json/value-at.ts';
import { keysOf } from './channel-keys.ts';
import { declaredPathOf, keyedPathOf, patternsOf } from './channel-patterns.ts';
import type { Pattern } from './channel-patterns.ts';
import { textOf } from './compared-text.ts';
import { describeKey, isKeyPart, isRecordPart, keyText, keyTextAt, partsReader } from './record-parts.ts';
import type { RecordParts } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';
import { FieldTally, payloadToLookFor } from './field-tally.ts';

/** A channel that a record is published to, or `STATES_OF_KEY`. */
export interface Route {
  readonly channel: string;
  /** The most that a field of the channel keeps. */
  readonly history: Retention | undefined;
  /** See `Message`. */
  readonly keyHash?: string;
  readonly isDeparture?: boolean;
}

/** Where the change of a row goes. */
export interface ChangeRoutes {
  /** Channels of the row in which it was not before, or not surely. */
  readonly entered: readonly Route[];
  /** Channels in which it stays. */
  readonly stayed: readonly Route[];
  /** Channels that it leaves. */
  readonly left: readonly Route[];
}

/**
 * Called once if the key of a record is not what the topic's fields take it for.
 * @param path that it is not the value of, or that it does not have (`keyPathPart`); undefined: the key cannot be read
 * @param found what the key is (`describeKey`)
 * @param problem why a key with a schema could not be decoded
 */
export type OnUnfitKey = (topic: string, path: string | undefined, found: string, problem: string | undefined) => void;

const NONE: readonly Route[] = [];

/** Routes the records of one topic. Patterns are computed once; a record costs one read per path and one name per channel. */
export class TopicRouter {
  readonly topic: string;
  /** In the payload, each once: first the paths of matches and wheres, then those of payloads, of which only the presence counts. */
  readonly paths: readonly (readonly string[])[];
  readonly firstPresence: number;
  /** Reads the matched parts of a record beside its payload; undefined: there are none. Their values follow those of `paths`. */
  readonly valuesBeside: ((record: RecordParts) => PathValues) | undefined;
  /** True if the channels depend on values of payloads. */
  readonly readsRows: boolean;
  /** One per field. */
  readonly tallies: readonly FieldTally[];
  /** Records that were counted. */
  records = 0;
  /** Counted records that match no field. */
  unrouted = 0;
  /** Records without a value, by whether a channel got them. `unreadable_key`: those whose channels the key would name, if it had the value. */
  readonly tombstones = { routed: 0, unrouted: 0, unreadable_key: 0 };
  readonly #prefix: string;
  readonly #patterns: readonly Pattern[];
  readonly #tombstonePatterns: readonly Pattern[];
  /** Those whose states remember the key of their record. */
  readonly #indexedPatterns: readonly Pattern[];
  /** Index of the path whose value the key of a tombstone gives; undefined: there is none. */
  readonly #keyed: number | undefined;
  /** True: records are changes of rows, and a key has columns of the row. */
  readonly #hasEnvelope: boolean;
  /** False if tombstones need no such value, or records have shown that the key is not the value. */
  #comparesKey: boolean;
  /** Indexes of the values that tombstones need, and that only their key has. */
  readonly #ofKey: readonly number[];
  /** False if no field matches the key, or it was reported that one cannot be decoded. */
  #matchesKey: boolean;
  /** False once the key of a record was not its value at the keyed path. From then on, all states of indexed patterns remember the key. */
  #keyIsValue = true;
  readonly #onUnfitKey: OnUnfitKey;
  #hasReportedKey = false;
  /** Of the values: those in the payload, then the matched parts. */
  readonly #allPaths: readonly string[];
  readonly #maxValueLength: number;

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
    const matched = [...new Set(bindings.flatMap((binding) => keysOf(binding).map(({ path }) => path)))];
    const parts = matched.filter(isRecordPart);
    const ofPayload = matched.filter((path) => !isRecordPart(path));
    const paths = [...new Set([...ofPayload, ...bindings.flatMap((binding) => payloadToLookFor(binding) ?? [])])];
    const all = [...paths, ...parts];
    this.topic = topic;
    this.paths = paths.map((path) => path.split('.'));
    this.firstPresence = ofPayload.length;
    this.readsRows = ofPayload.length > 0;
    this.valuesBeside = parts.length > 0 ? partsReader(parts) : undefined;
    this.tallies = bindings.map((binding) => new FieldTally(binding, (path) => all.indexOf(path), maxValueLength));
    this.#maxValueLength = maxValueLength;
    this.#prefix = prefix;
    this.#patterns = patternsOf(topic, bindings, prefix, all);
    this.#tombstonePatterns = this.#patterns.filter(({ takesTombstones }) => takesTombstones);
    this.#indexedPatterns = this.#patterns.filter(({ history }) => history?.keyIndex !== undefined);
    const keyed = keyedPathOf(bindings);
    this.#keyed = keyed === undefined ? undefined : paths.indexOf(keyed);
    this.#hasEnvelope = bindings.some(({ envelope }) => envelope !== undefined);
    this.#comparesKey = !this.#hasEnvelope && keyed !== undefined && keyed === declaredPathOf(bindings);
    this.#matchesKey = parts.some(isKeyPart);
    const named = this.#hasEnvelope
      ? []
      : this.#tombstonePatterns.filter(({ history }) => history?.keyIndex === undefined);
    const ofKey = named.flatMap(({ keys }) => keys.filter(({ path }) => isKeyPart(path) || path === keyed));
    this.#ofKey = [...new Set(ofKey.flatMap(({ index }) => index ?? []))];
    this.#allPaths = all;
    this.#onUnfitKey = onUnfitKey;
  }

  /** Counts on from the router of the same topic of another graph. */
  continueFrom(router: TopicRouter): void {
    const { records, unrouted, tombstones } = router;
    Object.assign(this, { records, unrouted });
    Object.assign(this.tombstones, tombstones);
    this.#keyIsValue &&= router.#keyIsValue;
    for (const tally of this.tallies) {
      const former = router.tallies.find(({ field }) => field === tally.field);
      if (former) Object.assign(tally, { matched: former.matched, unmatched: { ...former.unmatched } });
    }
  }

  valuesIn(payload: unknown): PathValues {
    return this.paths.map((path, index) => {
      const value = valueAt(payload, path);
      return (
        textOf(value) ?? (index >= this.firstPresence && typeof value === 'object' && value !== null ? '' : undefined)
      );
    });
  }

  /** Counts a record with these values, once. */
  count(values: PathValues, record: RecordParts): void {
    if (this.#comparesKey) this.#compareKey(this.#keyed!, values, record);
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
    const { key } = record;
    if (this.#indexedPatterns.length === 0 || key === null) return this.#channelsOf(this.#patterns, values);
    const valuesOfKey = this.#valuesOfKey(values, record);
    if (valuesOfKey && valuesOfKey !== values) this.#keyIsValue = false;
    let keyHash: string | undefined;
    const departures: Route[] = [];
    const channels: Route[] = [];
    for (const pattern of this.#patterns) {
      const { history, isNamedByKey, keys } = pattern;
      const routes = this.#channelsOf([pattern], values);
      if (history?.keyIndex === undefined || (isNamedByKey && valuesOfKey === values && this.#keyIsValue)) {
        channels.push(...routes);
        continue;
      }
      keyHash ??= hashOf(key);
      const departure = { history, keyHash, isDeparture: true };
      for (const { channel } of routes) channels.push({ channel, history, keyHash });
      // A value that is too long to subscribe to.
      if (routes.length === 0 && keys.every(({ index }) => index === undefined || values[index] !== undefined)) {
        departures.push({ channel: STATES_OF_KEY, ...departure });
      }
      if (isNamedByKey && valuesOfKey && valuesOfKey !== values) {
        for (const { channel } of this.#channelsOf([pattern], valuesOfKey)) departures.push({ channel, ...departure });
      }
    }
    return [...departures, ...channels];
  }

  /**
   * Where the change of a row goes; counts it. A deleted row is looked for by its values before, and by the record's key.
   * @param row null: deleted
   */
  changeRoutes(row: PathValues | null, before: PathValues | undefined, record: RecordParts): ChangeRoutes {
    const beside = this.valuesBeside?.(record);
    const all = (values: PathValues) => (beside ? [...values, ...beside] : values);
    const former = before && this.#routesOf(all(before), record);
    if (row === null) {
      if (!former) return { entered: NONE, stayed: NONE, left: this.tombstoneChannels(record) };
      this.count(all(before), record);
      return { entered: NONE, stayed: NONE, left: [...former, ...this.#departuresOf(record)] };
    }
    const values = all(row);
    this.count(values, record);
    const channels = this.channels(values, record);
    if (!former) return { entered: channels, stayed: NONE, left: NONE };
    const names = new Set(channels.map(({ channel }) => channel));
    const formerNames = new Set(former.map(({ channel }) => channel));
    return {
      entered: channels.filter(({ channel, isDeparture }) => isDeparture === true || !formerNames.has(channel)),
      stayed: channels.filter(({ channel, isDeparture }) => isDeparture !== true && formerNames.has(channel)),
      left: former.filter(({ channel }) => !names.has(channel)),
    };
  }

  /** The channels whose state is of the record's key; counts the record as a tombstone. */
  statesOfKey(record: RecordParts): Route[] {
    const channels = this.#departuresOf(record);
    this.tombstones[channels.length > 0 ? 'routed' : 'unrouted']++;
    return channels;
  }

  /** The channel whose state is the row with these values, because the record's key names it; undefined: there is none. */
  stateOfRow(values: PathValues, record: RecordParts): string | undefined {
    const ofKey = this.#valuesOfRowKey(record);
    const pattern = this.#patterns.find(
      ({ keys, constant, history }) =>
        constant === undefined &&
        history?.stateSeconds !== undefined &&
        keys.every(({ index }) => index !== undefined && values[index] !== undefined && ofKey[index] === values[index]),
    );
    return pattern && this.#channelsOf([pattern], values)[0]?.channel;
  }

  /** The values of a row that its key has. */
  #valuesOfRowKey(record: RecordParts): PathValues {
    const { keyValue } = record;
    if (typeof keyValue === 'object' && keyValue !== null) return this.valuesIn(keyValue);
    const text = keyText(record);
    return this.paths.map((_, index) => (index === this.#keyed ? text : undefined));
  }

  /** The channels whose state is of the record's key. */
  #statesOf({ key }: RecordParts): Route[] {
    if (key === null || this.#indexedPatterns.length === 0) return [];
    const keyHash = hashOf(key);
    return this.#indexedPatterns.map(({ history }) => ({ channel: STATES_OF_KEY, history, keyHash }));
  }

  /** The same for a row that they lose: they receive a tombstone, and nothing else of the record. */
  #departuresOf(record: RecordParts): Route[] {
    return this.#statesOf(record).map((route) => ({ ...route, isDeparture: true }));
  }

  /** The channels of a row, with what their states remember of its key. */
  #routesOf(values: PathValues, { key }: RecordParts): Route[] {
    let keyHash: string | undefined;
    return this.#patterns.flatMap((pattern) => {
      const routes = this.#channelsOf([pattern], values);
      if (key === null || pattern.history?.keyIndex === undefined || (pattern.isNamedByKey && this.#keyIsValue))
        return routes;
      const hash = (keyHash ??= hashOf(key));
      return routes.map((route) => ({ ...route, keyHash: hash }));
    });
  }

  /** The values, with the record's key as that at the keyed path; undefined: there is no such path, value or key. */
  #valuesOfKey(values: PathValues, record: RecordParts): PathValues | undefined {
    const keyed = this.#keyed;
    if (keyed === undefined || values[keyed] === undefined) return undefined;
    const text = keyTextAt(record, this.paths[keyed]!);
    if (text === undefined) return undefined;
    return text === values[keyed] ? values : values.with(keyed, text);
  }

  /** The channels of a record without a value, each once; counts it. */
  tombstoneChannels(record: RecordParts): Route[] {
    const ofPayload = this.#hasEnvelope ? this.#valuesOfRowKey(record) : this.#valuesOfKeyedPath(record);
    const values = [...ofPayload, ...(this.valuesBeside?.(record) ?? [])];
    const channels = this.#channelsOf(this.#hasEnvelope ? this.#patterns : this.#tombstonePatterns, values);
    channels.push(...this.#statesOf(record));
    const missing = record.key === null ? undefined : this.#ofKey.find((index) => values[index] === undefined);
    const isUnreadable = missing !== undefined;
    if (isUnreadable) this.#reportKey(record, this.#allPaths[missing]);
    this.tombstones[isUnreadable ? 'unreadable_key' : channels.length > 0 ? 'routed' : 'unrouted']++;
    return channels;
  }

  /** Of the payload, a pattern that takes tombstones reads one value at most. */
  #valuesOfKeyedPath(record: RecordParts): PathValues {
    const keyed = this.#keyed === undefined ? undefined : keyTextAt(record, this.paths[this.#keyed]!);
    return this.paths.map(() => keyed);
  }

  /** Reports that the key is not the value that tombstones take it for. A record without that value says nothing. */
  #compareKey(keyed: number, values: PathValues, record: RecordParts): void {
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

  #channelsOf(patterns: readonly Pattern[], values: PathValues): Route[] {
    const channels: Route[] = [];
    for (const { keys, constant, history } of patterns) {
      if (constant !== undefined) {
        channels.push({ channel: constant, history });
        continue;
      }
      const named: ChannelKey[] = [];
      for (const { path, index } of keys) {
        const value = index === undefined ? undefined : values[index];
        if (index !== undefined && (value === undefined || value.length > this.#maxValueLength)) break;
        named.push({ path, value });
      }
      if (named.length === keys.length) {
        channels.push({ channel: channelName(this.#prefix, this.topic, named), history });
      }
    }
    return channels;
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

/** Equal keys have equal hashes, whichever schema they were written with (`RecordParts.key`); 128 bits of SHA-256. */
function hashOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
