import { isJsonObject } from '../base/json/json-object.ts';
import type { PathValues } from '../bus/channel.ts';
import { keysOf } from './channel-keys.ts';
import { keyedPathsOf } from './channel-patterns.ts';
import type { Pattern } from './channel-patterns.ts';
import { isHeaderPart, onlyKeyText } from './record-parts.ts';
import type { RecordParts } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';
import type { Route, TopicChannels } from './topic-channels.ts';

/** Where the change of a row goes. */
export interface ChangeRoutes {
  /** Channels of the row in which it was not before, or not surely. */
  readonly entered: readonly Route[];
  /** Channels in which it stays. */
  readonly stayed: readonly Route[];
  /** Channels that it leaves. */
  readonly left: readonly Route[];
  /** Channels of a deleted row that are not shown what it was: a header names them, and the row before may have been in another one. */
  readonly untold: readonly Route[];
}

/** Counts the records of a topic. */
interface Counts {
  count(values: PathValues, record: RecordParts): void;
  readonly tombstones: Record<'routed' | 'unrouted' | 'unreadable_key', number>;
}

const NONE: readonly Route[] = [];

/** Routes the changes of rows that the records of a topic with an `envelope` carry. */
export class RowRouter {
  /** True if the channels depend on values of rows. */
  readonly readsRows: boolean;
  readonly #channels: TopicChannels;
  readonly #counts: Counts;
  readonly #onUnfitKey: (record: RecordParts, path: string) => void;
  /** Their channels are named by a row and its key, which the row before has, too. */
  readonly #rowPatterns: readonly Pattern[];
  /** Their channels are also named by a header, which says nothing of the row before. */
  readonly #headerPatterns: readonly Pattern[];
  /** Indexes of the values that tombstones need, and that only their key has. */
  readonly #ofKey: readonly number[];
  /** Paths at which a key without names may have its value, as far as the bindings say. */
  readonly #candidates: readonly string[];
  /** Their indexes, without those at which rows have shown that it has not. */
  #columns: readonly number[];
  /** True if a row has shown that its key is its value at the only such path. */
  #isColumnShown = false;

  /** @param onUnfitKey called for each tombstone whose key has none of the values that name channels. `path`: one of these */
  constructor(
    channels: TopicChannels,
    bindings: readonly Binding[],
    counts: Counts,
    onUnfitKey: (record: RecordParts, path: string) => void,
  ) {
    const { patterns, names } = channels;
    const isOfHeader = ({ keys }: Pattern) => keys.some(({ path, index }) => index !== undefined && isHeaderPart(path));
    const indexesOf = (paths: readonly string[]) => [...new Set(paths)].map((path) => names.indexOf(path));
    const deleting = bindings.filter(({ tombstone, state }) => tombstone !== undefined || state !== undefined);
    const stateless = deleting.filter(({ state }) => state === undefined);
    this.readsRows = channels.firstPresence > 0;
    this.#channels = channels;
    this.#counts = counts;
    this.#onUnfitKey = onUnfitKey;
    this.#rowPatterns = patterns.filter((pattern) => !isOfHeader(pattern));
    this.#headerPatterns = patterns.filter(isOfHeader);
    this.#ofKey = indexesOf(stateless.flatMap(keysOf).flatMap(({ path }) => (isHeaderPart(path) ? [] : path)));
    this.#candidates = keyedPathsOf(deleting);
    this.#columns = indexesOf(this.#candidates);
  }

  /** Knows what rows have shown to the router of another graph. */
  continueFrom(former: RowRouter): void {
    const pathOf = (index: number) => this.#channels.names[index];
    const left = former.#columns.map((index) => former.#channels.names[index]);
    const refuted = former.#candidates.filter((path) => !left.includes(path));
    this.#columns = this.#columns.filter((index) => !refuted.includes(pathOf(index)!));
    const [column] = this.#columns;
    this.#isColumnShown = former.#isColumnShown && this.#columns.length === 1 && pathOf(column!) === left[0];
  }

  valuesIn(row: unknown): PathValues {
    return this.#channels.valuesIn(row);
  }

  /**
   * Where the change of a row goes; counts it. A deleted row is looked for by its values before, and by the record's key.
   * @param row null: deleted
   */
  changeRoutes(row: PathValues | null, before: PathValues | undefined, record: RecordParts): ChangeRoutes {
    const channels = this.#channels;
    const beside = channels.valuesBeside?.(record);
    const all = (values: PathValues) => (beside ? [...values, ...beside] : values);
    const former = before && channels.ofRow(all(before), record, this.#rowPatterns);
    if (row === null) {
      if (!former) return { entered: NONE, stayed: NONE, left: this.tombstoneChannels(record), untold: NONE };
      const values = all(before);
      this.#counts.count(values, record);
      const untold = this.#headerPatterns.length > 0 ? channels.ofRow(values, record, this.#headerPatterns) : NONE;
      return { entered: NONE, stayed: NONE, left: [...former, ...this.#departuresOf(record)], untold };
    }
    const values = all(row);
    this.#counts.count(values, record);
    this.#learnColumns(values, record);
    const routes = channels.ofRecord(values, record);
    if (!former) return { entered: routes, stayed: NONE, left: NONE, untold: NONE };
    const names = new Set(routes.map(({ channel }) => channel));
    const formerNames = new Set(former.map(({ channel }) => channel));
    return {
      entered: routes.filter(({ channel, isDeparture }) => isDeparture === true || !formerNames.has(channel)),
      stayed: routes.filter(({ channel, isDeparture }) => isDeparture !== true && formerNames.has(channel)),
      left: former.filter(({ channel }) => !names.has(channel)),
      untold: NONE,
    };
  }

  /** The channels of a record without a value, each once; counts it. */
  tombstoneChannels(record: RecordParts): Route[] {
    const channels = this.#channels;
    const values = [...this.#valuesOfKey(record), ...(channels.valuesBeside?.(record) ?? [])];
    const routes = [...channels.ofRow(values, record), ...channels.statesOf(record)];
    const [first] = this.#ofKey;
    const isUnreadable =
      record.key !== null && first !== undefined && this.#ofKey.every((index) => values[index] === undefined);
    if (isUnreadable) this.#onUnfitKey(record, channels.names[first]!);
    this.#counts.tombstones[isUnreadable ? 'unreadable_key' : routes.length > 0 ? 'routed' : 'unrouted']++;
    return routes;
  }

  /** The channels whose state is of the record's key; counts the record as a tombstone. */
  statesOfKey(record: RecordParts): Route[] {
    const routes = this.#departuresOf(record);
    this.#counts.tombstones[routes.length > 0 ? 'routed' : 'unrouted']++;
    return routes;
  }

  /** The channel whose state is the row with these values, because the record's key names it; undefined: there is none. */
  stateOfRow(values: PathValues, record: RecordParts): string | undefined {
    const ofKey = this.#valuesOfKey(record);
    const pattern = this.#channels.patterns.find(
      ({ keys, constant, history }) =>
        constant === undefined &&
        history?.stateSeconds !== undefined &&
        keys.every(({ index }) => index !== undefined && values[index] !== undefined && ofKey[index] === values[index]),
    );
    return pattern && this.#channels.named(values, [pattern])[0]?.channel;
  }

  /** The states of the key, for a row that they lose: they receive a tombstone, and nothing else of the record. */
  #departuresOf(record: RecordParts): Route[] {
    return this.#channels.statesOf(record).map((route) => ({ ...route, isDeparture: true }));
  }

  /** The values of a row that its key has: of a struct those of its columns; else its value, once a row has shown which column has it. */
  #valuesOfKey(record: RecordParts): PathValues {
    const { paths } = this.#channels;
    if (isJsonObject(record.keyValue)) return this.valuesIn(record.keyValue);
    const [column] = this.#columns;
    const text = this.#isColumnShown ? onlyKeyText(record) : undefined;
    return paths.map((_, index) => (index === column ? text : undefined));
  }

  /** The key of a row is not the column that has another value. */
  #learnColumns(values: PathValues, record: RecordParts): void {
    if (this.#columns.length === 0 || isJsonObject(record.keyValue)) return;
    const text = onlyKeyText(record);
    if (text === undefined) return;
    const isPossible = (index: number) => values[index] === undefined || values[index] === text;
    if (!this.#columns.every(isPossible)) this.#columns = this.#columns.filter(isPossible);
    const [column] = this.#columns;
    this.#isColumnShown = this.#columns.length === 1 && (this.#isColumnShown || values[column!] === text);
  }
}
