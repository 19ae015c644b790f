import { snakeCaseName } from '../../base/json/key-naming.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import type { RowChange } from '../../bus/row-change.ts';
import { ConnectSchemas } from '../../kafka/decoding/connect/connect-schemas.ts';
import { connectValueType } from '../../kafka/decoding/connect/connect-value-types.ts';
import { UNREAD, UndecodableError } from '../../kafka/decoding/decoder.ts';
import type { PayloadPlace } from '../../kafka/decoding/decoder.ts';
import { withoutSchema } from '../../kafka/decoding/envelopes/connect.ts';
import type { EnvelopeChange } from '../../kafka/decoding/envelopes/envelope.ts';
import { envelopeOf } from '../../kafka/decoding/envelopes/envelopes.ts';
import { isFlinkChange, recognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import type { RecognisedEnvelope } from '../../kafka/decoding/envelopes/recognised.ts';
import { rowType } from '../../kafka/decoding/envelopes/row-type.ts';
import { MergedTypes } from '../../kafka/decoding/merged-types.ts';
import type { RecordLimits } from '../../kafka/decoding/record.ts';
import { SchemaPlace } from '../../kafka/decoding/schema-place.ts';
import { SnakeCase } from '../../kafka/decoding/snake-case.ts';
import { UnavailableValues } from '../../kafka/decoding/unavailable-values.ts';
import type { NamesOf, ValueType } from '../../kafka/decoding/value-type.ts';
import { withChanges } from './sample-changes.ts';
import type { Sample, SeenRecord } from './seen-record.ts';

type JsonObject = Record<string, unknown>;

/** A record whose bytes were decoded. */
export interface ReadRecord extends Pick<SeenRecord, 'key' | 'keyValue' | 'headers'> {
  /** JSON of any kind, with the producer's keys. */
  readonly value: unknown;
}

/** What is known of a topic. */
export interface SeenTopic {
  readonly records: readonly SeenRecord[];
  /** In the order of the topic; of changes of rows an update and a delete, too. */
  readonly samples: readonly Sample[];
  /** What all records show; undefined: none, or not all show one. */
  readonly envelope: RecognisedEnvelope | undefined;
  /** What schemas say of the payloads; undefined: nothing. */
  readonly type: ValueType | undefined;
  /** Of Debezium's changes, what updates show of their rows before. undefined: they count in any case, or the records are none. */
  readonly rowsBefore?: 'WHOLE' | 'UNKNOWN' | undefined;
  /** By the envelope that they show, where records disagree. Empty: they agree. */
  readonly mixed: ReadonlyMap<RecognisedEnvelope | undefined, number>;
}

/** Reads each value as it is, with all that its schema says: no field reads decimals and times as numbers. */
export const EVERY_PLACE: PayloadPlace = { kinds: new Set(['custom']), at: () => EVERY_PLACE };

/** Names of fields in payloads, as crier converts keys. */
export const payloadNames: NamesOf = (fields) =>
  SchemaPlace.root({ shape: UNREAD, nameOf: snakeCaseName }).namesOf(fields);

const UNAVAILABLE = new UnavailableValues();

/** @param types what the schemas of a registry say of the values, if they have one */
export function seenTopic(
  read: readonly ReadRecord[],
  limits: RecordLimits,
  types: readonly ValueType[] = [],
): SeenTopic {
  const values = new OpenedValues(limits);
  const opened = read
    .map((record) => ({ ...record, ...values.open(record.value) }))
    .filter(({ inner }) => inner !== null)
    .map((record) => ({ ...record, recognised: isOfRouter(record) ? 'OUTBOX' : record.recognised }) as const);
  const mixed = new Map<RecognisedEnvelope | undefined, number>();
  for (const { recognised } of opened) mixed.set(recognised, (mixed.get(recognised) ?? 0) + 1);
  const envelope = mixed.size === 1 ? opened[0]!.recognised : undefined;
  const all = opened.flatMap(({ key, keyValue, headers, inner }): { record: SeenRecord; isDeleted: boolean }[] => {
    const change = changeOf(inner, envelope);
    const row = change?.row ?? change?.before;
    if (!change || !row) return [];
    const payload = new SnakeCase().convertObjToSnakeKeys(structuredClone(columnsOf(row, envelope)));
    if (envelope !== undefined) UNAVAILABLE.replaceIn(payload, undefined);
    const value = sampleOf(inner, envelope, change);
    const record = { key, keyValue: keyOfRow(keyValue, envelope), headers, value, payload };
    return [{ record, isDeleted: change.row === null }];
  });
  // Of a deleted row perhaps only the key is known.
  const kept = all.filter(({ isDeleted }) => !isDeleted);
  const records = (kept.length > 0 ? kept : all).map(({ record }) => record);
  const rows = [...types, ...values.types].flatMap((type) => rowType(type, envelope) ?? []);
  const type = rows.length > 0 ? new MergedTypes().of(rows) : undefined;
  const rowsBefore = envelope === 'DEBEZIUM' ? rowsBeforeOf(opened) : undefined;
  const seen = all.map(({ record: { key, value } }) => ({ key, value }));
  const samples = withChanges(seen, envelope, rowsBefore !== 'UNKNOWN');
  return { records, samples, envelope, type, rowsBefore, mixed: mixed.size > 1 ? mixed : new Map() };
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** True for an event of the outbox router that is an object: the router writes the event's id as a header. */
function isOfRouter({
  recognised,
  inner,
  headers = {},
}: Pick<ReadRecord, 'headers'> & ReturnType<OpenedValues['open']>): boolean {
  const isPlain = recognised === undefined || recognised === 'CONNECT';
  return isPlain && isJsonObject(inner) && Object.hasOwn(headers, 'id') && UUID.test(headers['id']!);
}

/** WHOLE only if an update shows it and none denies it. */
function rowsBeforeOf(
  opened: readonly { readonly inner: unknown; readonly keyValue?: unknown }[],
): SeenTopic['rowsBefore'] {
  if (opened.every(({ inner }) => isJsonObject(inner) && isFlinkChange(inner))) return 'WHOLE';
  const changes = opened.map(({ inner, keyValue }) => ({ keyValue, change: changeOf(inner, 'DEBEZIUM') }));
  if (!changes.some(({ change }) => change?.isFilled)) return undefined;
  const updates = changes.filter(({ change }) => change?.op === 'UPDATE');
  const isWhole = ({ change, keyValue }: (typeof updates)[number]) =>
    isWholeBefore(change!.before, change!.row!, keyValue);
  return updates.some(isWhole) && updates.every(({ change }) => change!.before) ? 'WHOLE' : 'UNKNOWN';
}

/** A row before that Debezium has filled has the columns of the row, too; of a whole one, some column stays as it was. */
function isWholeBefore(before: JsonObject | null | undefined, row: JsonObject, keyValue: unknown): boolean {
  if (!before || !Object.keys(row).every((column) => Object.hasOwn(before, column))) return false;
  const isOfKey = (column: string) => isJsonObject(keyValue) && Object.hasOwn(keyValue, snakeCaseName(column));
  return Object.entries(row).some(
    ([column, value]) => value !== null && !isOfKey(column) && JSON.stringify(value) === JSON.stringify(before[column]),
  );
}

/** Takes values of Kafka Connect out of what has their schema beside them. */
class OpenedValues {
  readonly #schemas: ConnectSchemas;
  readonly #types = new Map<string, ValueType>();

  constructor(limits: RecordLimits) {
    const options = { nameOf: (key: string) => key, shape: EVERY_PLACE, limits, onOverflow: () => undefined };
    this.#schemas = new ConnectSchemas(options);
  }

  /** Of the schemas that values have beside them. */
  get types(): readonly ValueType[] {
    return [...this.#types.values()];
  }

  open(value: unknown): { readonly recognised: RecognisedEnvelope | undefined; readonly inner: unknown } {
    const recognised = recognisedEnvelope(value);
    const inner = withoutSchema(value);
    if (inner === value || inner === null) return { recognised, inner };
    const { schema } = value as JsonObject;
    const text = JSON.stringify(schema);
    if (!this.#types.has(text)) this.#types.set(text, connectValueType(schema, payloadNames));
    const convert = this.#schemas.of(Buffer.from(text));
    return { recognised, inner: convert ? convert(structuredClone(inner)) : inner };
  }
}

/** undefined: the value is of no row, or is no object. */
function changeOf(value: unknown, envelope: RecognisedEnvelope | undefined): EnvelopeChange | undefined {
  if (envelope === undefined) return isJsonObject(value) ? { row: value } : undefined;
  try {
    return envelopeOf({ name: envelope, read: undefined }).read(value);
  } catch (error) {
    if (error instanceof UndecodableError) return undefined;
    throw error;
  }
}

/** Without those that Debezium adds. */
function columnsOf(row: JsonObject, envelope: RecognisedEnvelope | undefined): JsonObject {
  if (envelope !== 'DEBEZIUM_FLAT') return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('__')));
}

/** The columns of a row that a key has. */
function keyOfRow(keyValue: unknown, envelope: RecognisedEnvelope | undefined): unknown {
  if (envelope !== 'MONGODB') return keyValue;
  const { id } = envelopeOf({ name: envelope, read: undefined }).rowOfKey!(keyValue) as { readonly id: unknown };
  return { id };
}

/** A change without what says where and when it was made; documents and events as objects, whose long texts can be shortened. */
function sampleOf(value: unknown, envelope: RecognisedEnvelope | undefined, { row, before }: RowChange): JsonObject {
  if (envelope === 'OUTBOX') return row!;
  if (envelope !== 'DEBEZIUM' && envelope !== 'MONGODB') return value as JsonObject;
  if (isFlinkChange(value as JsonObject))
    return { before: before ?? null, after: row, op: (value as JsonObject)['op'] };
  const { op, source } = value as JsonObject & { readonly source: JsonObject };
  const { snapshot, ts_ms: timestamp } = source;
  // It shows the envelope, now that documents are no texts.
  const connector = envelope === 'MONGODB' ? 'mongodb' : source['connector'];
  return { before: before ?? null, after: row, op, source: { connector, snapshot, ts_ms: timestamp } };
}
