import { memberNames } from '../../../base/json/tokens.ts';
import { TOMBSTONE } from '../../../bus/bus-message.ts';
import type { PathValues } from '../../../bus/channel.ts';
import { printChange, splitChange } from '../../../bus/change-text.ts';
import type { ChangeOperation } from '../../../bus/change-text.ts';
import type { KeyPlace } from '../../../base/json/key-place.ts';
import { PendingConversion } from '../../batch.ts';
import type { Conversion, Converted, Destination, RecordContent } from '../../batch.ts';
import type { ConnectSchemas } from '../connect/connect-schemas.ts';
import type { KeyRewriter } from '../key-rewriter.ts';
import type { KeyTree } from '../key-tree.ts';
import { decodeJson } from '../record.ts';
import type { RecordLimits } from '../record.ts';
import type { SnakeCase } from '../snake-case.ts';
import { UnavailableValues } from '../unavailable-values.ts';
import { ChangeRewriter } from './change-rewriter.ts';
import type { ReadMembers } from './change-rewriter.ts';
import { DeletedKeys } from './deleted-keys.ts';
import type { EnvelopeChange, JsonObject } from './envelope.ts';
import { RowsBefore, hasMoreThanKey } from './rows-before.ts';
import type { RowBefore, RowsBeforeOptions } from './rows-before.ts';

/** Where the change of a row goes. */
export interface ChangeRoutes {
  /** Channels of the row that were not, or not surely, those of the row before. */
  readonly entered: readonly Destination[];
  /** Channels of the row now and before. */
  readonly stayed: readonly Destination[];
  /** Channels that the row was in, for which it is deleted. */
  readonly left: readonly Destination[];
  /** Channels of a deleted row that may not be shown what it was. */
  readonly untold: readonly Destination[];
}

/** Which channels the rows of a topic belong to. */
export interface RowRoutes {
  /** True if the channels depend on values of rows. */
  readonly readsRows: boolean;
  valuesIn(row: unknown): PathValues;
  /** Counts the record. @param row null: deleted */
  changeRoutes(row: PathValues | null, before: PathValues | undefined, record: RecordContent): ChangeRoutes;
  /** Channels of a record without a value; counts it. */
  tombstoneChannels(record: RecordContent): readonly Destination[];
  /** Those whose state is of the record's key; counts it. */
  statesOfKey(record: RecordContent): readonly Destination[];
  /** The channel whose state is the row with these values, because the record's key names it; undefined: there is none. */
  stateOfRow(values: PathValues, record: RecordContent): string | undefined;
}

/** What a topic's envelope needs. */
export interface EnvelopeOptions extends Omit<RowsBeforeOptions, 'routes'> {
  /** Converts the values of records whose schema Connect writes beside them; absent: they stay as they are. */
  readonly schemas?: Pick<ConnectSchemas, 'split'>;
  /** The last message of a channel that keeps states; undefined: it has none. @throws BusUnavailableError as a rejection */
  readonly lastOf?: (channel: string) => Promise<Buffer | undefined>;
  /** Default: those of Debezium's own placeholder. */
  readonly unavailable?: UnavailableValues;
  /** Called with the number of values of a row that its database did not log and nobody knows. They became null. */
  readonly onUnknown?: (values: number) => void;
}

export interface ChangeConverterOptions extends EnvelopeOptions {
  readonly routes: RowRoutes;
  readonly limits: RecordLimits;
  readonly snakeCase: SnakeCase;
  /** undefined: every record is parsed. */
  readonly rewriter: KeyRewriter | undefined;
  readonly keys: KeyTree;
  readonly keyPlace: KeyPlace | undefined;
}

/** A row in a payload. */
interface PayloadRow {
  readonly values: PathValues;
  /** The row's text and what follows it. */
  readonly print: (suffix: string) => string | Buffer;
}

/** A change whose rows are as in payloads. */
interface PayloadChange {
  readonly facts: Facts;
  readonly row: PayloadRow | null;
  readonly before: { readonly text: string; readonly values: PathValues } | undefined;
}

type Facts = Pick<EnvelopeChange, 'op' | 'sourceTimestamp' | 'transaction' | 'isSnapshot' | 'isFilled'>;

const NO_CHANNEL: Conversion = { payload: '', destinations: [] };

/** What follows the row where nothing else is asked for. */
const PRINTED: Readonly<Record<ChangeOperation, string>> = {
  CREATE: printChange({ op: 'CREATE' }),
  UPDATE: printChange({ op: 'UPDATE' }),
  DELETE: printChange({ op: 'DELETE' }),
  READ: printChange({ op: 'READ' }),
};

/** Converts the records of a topic with an envelope: the payload is the row, and channels that the row leaves get its delete. */
export class ChangeConverter {
  readonly #options: ChangeConverterOptions;
  readonly #rewriter: ChangeRewriter | undefined;
  readonly #reads: ReadMembers;
  readonly #unavailable: UnavailableValues;
  readonly #rowsBefore: RowsBefore;
  readonly #deleted = new DeletedKeys();

  constructor(options: ChangeConverterOptions) {
    const { envelope, demand, rewriter, keys, limits, routes } = options;
    this.#options = options;
    this.#rowsBefore = new RowsBefore(options);
    this.#reads = {
      before: demand.before || routes.readsRows,
      facts: demand.sourceTimestamp || demand.transaction || demand.isSnapshot,
    };
    this.#unavailable = options.unavailable ?? new UnavailableValues();
    if (rewriter && envelope.hasFastPath) this.#rewriter = new ChangeRewriter(rewriter, keys, limits.maxDepth);
  }

  /** @throws UndecodableError */
  convertJson(record: RecordContent, value: Buffer): Converted {
    const { envelope, limits, rewriter, schemas } = this.#options;
    const { payload: text = value, convert } = schemas?.split(value) ?? {};
    const read = convert ? undefined : this.#rewriter?.read(text, this.#reads);
    const isUnavailable = this.#unavailable.mayBeIn(text, read?.endOfRows);
    if (read && !isUnavailable) {
      const { row: values, before: own, facts } = read;
      const row = values && { values, print: (suffix: string) => rewriter!.payload(suffix) };
      const counts = this.#reads.before && this.#rowsBefore.counts(record, facts, own && (() => columnsOf(own)));
      const before = counts ? own : undefined;
      return this.#conversionOf(record, { facts, row, before }, undefined);
    }
    const { json, poison } = decodeJson(text, limits);
    if (poison !== undefined) return { poison };
    const change = envelope.read(convert ? convert(json) : json);
    if (!change) return NO_CHANNEL;
    return this.#convert(record, change, (row) => this.#named(row), isUnavailable);
  }

  /** @param value whose keys have their final names. @throws UndecodableError */
  convertDecoded(record: RecordContent, value: Record<string, unknown>): Converted {
    const change = this.#options.envelope.read(value);
    return change ? this.#convert(record, change, (row) => row, true) : NO_CHANNEL;
  }

  /**
   * Of a record without a value. What follows a delete of the same key says nothing new. Of a compacted topic, the tombstone may be all that is left
   * of a delete.
   */
  convertTombstone(record: RecordContent): Conversion {
    const { routes } = this.#options;
    const isKnown = this.#deleted.has(record.key);
    const destinations = isKnown ? routes.statesOfKey(record) : routes.tombstoneChannels(record);
    return destinations.length === 0 ? NO_CHANNEL : { payload: TOMBSTONE + PRINTED.DELETE, destinations };
  }

  /** Takes ownership of the row. */
  #named(row: JsonObject): JsonObject {
    const { snakeCase, keyPlace } = this.#options;
    return snakeCase.convertObjToSnakeKeys(row, keyPlace);
  }

  /** @param mayLack true: values of rows may be unavailable */
  #convert(
    record: RecordContent,
    change: EnvelopeChange,
    named: (row: JsonObject) => JsonObject,
    mayLack: boolean,
  ): Converted {
    const reads = this.#reads.before || mayLack;
    const row = change.row && named(change.row);
    const known = reads && change.before ? named(change.before) : undefined;
    const columns = mayLack && row ? this.#unavailable.columnsOf(row) : [];
    if (known && mayLack) this.#unavailable.replaceIn(known, undefined);
    const counts = reads && this.#rowsBefore.counts(record, change, known && (() => this.#columnsOf(known)));
    const before = counts ? known : undefined;
    const convert = (last: JsonObject | undefined) => {
      if (row && columns.length > 0) this.#complete(row, columns, last);
      return this.#conversionOf(record, this.#printed(change, row, before), before);
    };
    if (columns.length === 0 || !row) return convert(undefined);
    const { routes, lastOf } = this.#options;
    const channel = lastOf && routes.stateOfRow(routes.valuesIn(row), record);
    if (before || channel === undefined) return convert(before);
    return new PendingConversion(channel, async () => {
      const payload = await lastOf!(channel);
      const last = payload && rowIn(payload);
      return convert(last && hasKey(last, record) ? last : undefined);
    });
  }

  #columnsOf(row: JsonObject): RowBefore {
    return { names: Object.keys(row), values: this.#options.routes.valuesIn(row) };
  }

  /** Gives columns whose values were not logged those of the row before. */
  #complete(row: JsonObject, columns: readonly string[], last: JsonObject | undefined): void {
    this.#unavailable.replaceIn(row, last);
    const unknown = columns.filter((column) => !last || !Object.hasOwn(last, column)).length;
    if (unknown > 0) this.#options.onUnknown?.(unknown);
  }

  #printed(facts: Facts, row: JsonObject | null, before: JsonObject | undefined): PayloadChange {
    const { routes } = this.#options;
    return {
      facts,
      row: row && { values: routes.valuesIn(row), print: (suffix) => JSON.stringify(row) + suffix },
      before:
        before && this.#reads.before ? { text: JSON.stringify(before), values: routes.valuesIn(before) } : undefined,
    };
  }

  /** @param ownBefore parsed, if it is at hand */
  #conversionOf(record: RecordContent, change: PayloadChange, ownBefore: JsonObject | undefined): Conversion {
    const { routes, demand, envelope } = this.#options;
    const { row, before, facts } = change;
    const { op } = facts;
    this.#deleted.note(record.key, row === null);
    const { keyValue } = record;
    const of =
      envelope.rowOfKey && keyValue !== undefined ? { ...record, keyValue: envelope.rowOfKey(keyValue) } : record;
    const { entered, stayed, left, untold } = routes.changeRoutes(row && row.values, before?.values, of);
    const arrival = row && entered.length > 0 ? row.print(this.#print(facts, op)) : TOMBSTONE;
    if (stayed.length === 0 && left.length === 0 && untold.length === 0)
      return entered.length === 0 ? NO_CHANNEL : { payload: arrival, destinations: entered };
    const isTold =
      demand.before &&
      before &&
      (row !== null || facts.isFilled || hasMoreThanKey(ownBefore ?? parsed(before.text), record));
    const told = isTold ? before.text : undefined;
    const destinations: Destination[] = [];
    const add = (to: readonly Destination[], payload: string | Buffer) => {
      for (const one of to) destinations.push(one.isDeparture ? one : { ...one, payload });
    };
    if (untold.length > 0) add(untold, TOMBSTONE + this.#print(facts, 'DELETE'));
    if (left.length > 0)
      add(row ? left.map((one) => ({ ...one, isLeft: true })) : left, TOMBSTONE + this.#print(facts, 'DELETE', told));
    if (row && stayed.length > 0) add(stayed, row.print(this.#print(facts, op, told)));
    add(entered, arrival);
    return { payload: TOMBSTONE, destinations };
  }

  #print(
    { sourceTimestamp, transaction, isSnapshot }: Facts,
    op: ChangeOperation | undefined,
    before?: string,
  ): string {
    if (!this.#reads.facts && before === undefined) return op ? PRINTED[op] : '';
    const { demand } = this.#options;
    const printed = {
      ...(op && { op }),
      ...(demand.sourceTimestamp && sourceTimestamp !== undefined && { sourceTimestamp }),
      ...(demand.transaction && transaction !== undefined && { transaction }),
      ...(demand.isSnapshot && isSnapshot && { isSnapshot }),
    };
    return before === undefined && Object.keys(printed).length === 0 ? '' : printChange(printed, before);
  }
}

function columnsOf({ text, values }: { readonly text: string; readonly values: PathValues }): RowBefore {
  return { names: memberNames(text), values };
}

/** undefined: the last message of the channel has deleted the row. */
function rowIn(payload: Buffer): JsonObject | undefined {
  return (JSON.parse(splitChange(payload).row.toString()) as JsonObject | null) ?? undefined;
}

/** True if the row is that of the record's key. Fields that match a part of the key keep the state of several rows in a channel. */
function hasKey(row: JsonObject, { keyValue }: RecordContent): boolean {
  if (typeof keyValue !== 'object' || keyValue === null) return true;
  return Object.entries(keyValue).every(([name, value]) => row[name] === value);
}

function parsed(text: string | Buffer): JsonObject {
  return JSON.parse(text.toString()) as JsonObject;
}
