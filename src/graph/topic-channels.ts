import { valueAt } from '../base/json/value-at.ts';
import { STATES_OF_KEY } from '../bus/bus-message.ts';
import { channelName } from '../bus/channel.ts';
import type { ChannelKey, PathValues } from '../bus/channel.ts';
import type { Retention } from '../bus/history.ts';
import { keysOf } from './channel-keys.ts';
import { keyedPathOf, patternsOf } from './channel-patterns.ts';
import type { Pattern } from './channel-patterns.ts';
import { textOf } from './compared-text.ts';
import { payloadToLookFor } from './field-tally.ts';
import { hashOf, isRecordPart, keyTextAt, partsReader } from './record-parts.ts';
import type { RecordParts } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';

/** A channel that a record is published to, or `STATES_OF_KEY`. */
export interface Route {
  readonly channel: string;
  /** The most that a field of the channel keeps. */
  readonly history: Retention | undefined;
  /** See `Message`. */
  readonly keyHash?: string;
  readonly isDeparture?: boolean;
}

/** The channels of one topic. Patterns are computed once; a record costs one read per path and one name per channel. */
export class TopicChannels {
  readonly topic: string;
  /** In the payload, each once: first the paths of matches and wheres, then those of payloads, of which only the presence counts. */
  readonly paths: readonly (readonly string[])[];
  readonly firstPresence: number;
  /** Reads the matched parts of a record beside its payload; undefined: there are none. Their values follow those of `paths`. */
  readonly valuesBeside: ((record: RecordParts) => PathValues) | undefined;
  /** Of the values: the paths in the payload, then the matched parts. */
  readonly names: readonly string[];
  readonly patterns: readonly Pattern[];
  /** Index of the path whose value the key of a tombstone gives; undefined: there is none. */
  readonly keyed: number | undefined;
  readonly #prefix: string;
  readonly #maxValueLength: number;
  /** Those whose states remember the key of their record. */
  readonly #indexedPatterns: readonly Pattern[];
  /** True: records are changes of rows. States then remember the key of their row. */
  readonly #hasEnvelope: boolean;
  /** False once the key of a record was not its value at the keyed path. From then on, all states of indexed patterns remember the key. */
  #keyIsValue = true;

  /** @param maxValueLength as of `TopicRouter` */
  constructor(topic: string, bindings: readonly Binding[], prefix: string, maxValueLength: number) {
    const matched = [...new Set(bindings.flatMap((binding) => keysOf(binding).map(({ path }) => path)))];
    const parts = matched.filter(isRecordPart);
    const ofPayload = matched.filter((path) => !isRecordPart(path));
    const paths = [...new Set([...ofPayload, ...bindings.flatMap((binding) => payloadToLookFor(binding) ?? [])])];
    const keyed = keyedPathOf(bindings);
    this.topic = topic;
    this.paths = paths.map((path) => path.split('.'));
    this.firstPresence = ofPayload.length;
    this.valuesBeside = parts.length > 0 ? partsReader(parts) : undefined;
    this.names = [...paths, ...parts];
    this.patterns = patternsOf(topic, bindings, prefix, this.names);
    this.keyed = keyed === undefined ? undefined : paths.indexOf(keyed);
    this.#prefix = prefix;
    this.#maxValueLength = maxValueLength;
    this.#indexedPatterns = this.patterns.filter(({ history }) => history?.keyIndex !== undefined);
    this.#hasEnvelope = bindings.some(({ envelope }) => envelope !== undefined);
  }

  /** What the channels of another graph have seen of the topic's keys. */
  continueFrom(former: TopicChannels): void {
    this.#keyIsValue &&= former.#keyIsValue;
  }

  valuesIn(payload: unknown): PathValues {
    return this.paths.map((path, index) => {
      const value = valueAt(payload, path);
      return (
        textOf(value) ?? (index >= this.firstPresence && typeof value === 'object' && value !== null ? '' : undefined)
      );
    });
  }

  /** The channels of a record with these values, each once; before them, those that it has left. */
  ofRecord(values: PathValues, record: RecordParts): Route[] {
    const { key } = record;
    if (this.#indexedPatterns.length === 0 || key === null) return this.named(values);
    const valuesOfKey = this.#valuesOfKey(values, record);
    if (valuesOfKey && valuesOfKey !== values) this.#keyIsValue = false;
    let keyHash: string | undefined;
    const departures: Route[] = [];
    const channels: Route[] = [];
    for (const pattern of this.patterns) {
      const { history, isNamedByKey, keys } = pattern;
      const routes = this.named(values, [pattern]);
      if (!this.#remembersKey(pattern, valuesOfKey === values)) {
        channels.push(...routes);
        continue;
      }
      keyHash ??= hashOf(key);
      const departure = { history, keyHash, isDeparture: true };
      for (const { channel } of routes) channels.push({ channel, history, keyHash });
      // A value that is too long to subscribe to, or a column that a row has no more.
      const hasValues = keys.every(({ index }) => index === undefined || values[index] !== undefined);
      if (routes.length === 0 && (hasValues || this.#hasEnvelope)) {
        departures.push({ channel: STATES_OF_KEY, ...departure });
      }
      if (isNamedByKey && valuesOfKey && valuesOfKey !== values) {
        for (const { channel } of this.named(valuesOfKey, [pattern])) departures.push({ channel, ...departure });
      }
    }
    return [...departures, ...channels];
  }

  /** The channels of these values, each once, with what their states remember of the record's key. */
  ofRow(values: PathValues, record: RecordParts, patterns = this.patterns): Route[] {
    const { key } = record;
    if (this.#indexedPatterns.length === 0 || key === null) return this.named(values, patterns);
    const isKey = this.#valuesOfKey(values, record) === values;
    let keyHash: string | undefined;
    return patterns.flatMap((pattern) => {
      const routes = this.named(values, [pattern]);
      if (routes.length === 0 || !this.#remembersKey(pattern, isKey)) return routes;
      const hash = (keyHash ??= hashOf(key));
      return routes.map((route) => ({ ...route, keyHash: hash }));
    });
  }

  /** The channels of these values, each once. */
  named(values: PathValues, patterns = this.patterns): Route[] {
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

  /** The channels whose state is of the record's key. */
  statesOf({ key }: RecordParts): Route[] {
    if (key === null || this.#indexedPatterns.length === 0) return [];
    const keyHash = hashOf(key);
    return this.#indexedPatterns.map(({ history }) => ({ channel: STATES_OF_KEY, history, keyHash }));
  }

  /** True if the states of a pattern's channels remember the key of a record. @param isKey the key is the value that names the channel, if one does */
  #remembersKey({ history, isNamedByKey }: Pattern, isKey: boolean): boolean {
    return history?.keyIndex !== undefined && !(isNamedByKey && isKey && this.#keyIsValue);
  }

  /** The values, with the record's key as that at the keyed path; undefined: there is no such path, value or key, or the key is of a row. */
  #valuesOfKey(values: PathValues, record: RecordParts): PathValues | undefined {
    const { keyed } = this;
    if (keyed === undefined || values[keyed] === undefined || this.#hasEnvelope) return undefined;
    const text = keyTextAt(record, this.paths[keyed]!);
    if (text === undefined) return undefined;
    return text === values[keyed] ? values : values.with(keyed, text);
  }
}
