import type { PayloadPlace } from '../decoder.ts';
import { DECIMAL } from '../value-type.ts';
import { bitsConverter } from './connect-bits.ts';
import { decimalConverter, variableScaleConverter } from './connect-decimals.ts';
import { jsonOf } from './connect-json.ts';
import {
  structuredClock,
  structuredDay,
  structuredDuration,
  structuredInstant,
  structuredZonedClock,
} from './connect-structs.ts';
import {
  clockConverter,
  dayConverter,
  durationConverter,
  instantConverter,
  isoConverter,
  isoTimeConverter,
  MICROS,
  MILLIS,
  NANOS,
  withoutZone,
} from './connect-times.ts';
import type { ConnectParameters, ConvertValue } from './connect-value.ts';

type Kinds = PayloadPlace['kinds'];
type Compile = (kinds: Kinds, parameters: ConnectParameters) => ConvertValue | undefined;

const CONNECT = 'org.apache.kafka.connect.data.';
const TIME = 'io.debezium.time.';
const DATA = 'io.debezium.data.';
/** Texts that hold JSON. */
export const JSON_TYPE = `${DATA}Json`;

/**
 * Types of Kafka Connect and Debezium whose values need their name to be understood, by this name. Values of the others (Uuid, Enum, Xml, Point, Year …) are
 * in JSON what fields read.
 * https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types
 */
const TYPES: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  [`${CONNECT}Decimal`, (kinds, { scale }) => decimalConverter(Number(scale ?? 0), isNumberOnly(kinds))],
  [`${CONNECT}Date`, (kinds) => dayConverter(isNumber(kinds))],
  [`${CONNECT}Time`, (kinds) => clockConverter(MILLIS, isNumber(kinds))],
  [`${CONNECT}Timestamp`, (kinds) => instantConverter(MILLIS, isNumber(kinds))],
  [`${TIME}Date`, (kinds) => dayConverter(isNumber(kinds))],
  [`${TIME}Time`, (kinds) => clockConverter(MILLIS, isNumber(kinds))],
  [`${TIME}MicroTime`, (kinds) => clockConverter(MICROS, isNumber(kinds))],
  [`${TIME}NanoTime`, (kinds) => clockConverter(NANOS, isNumber(kinds))],
  [`${TIME}Timestamp`, (kinds) => instantConverter(MILLIS, isNumber(kinds))],
  [`${TIME}MicroTimestamp`, (kinds) => instantConverter(MICROS, isNumber(kinds))],
  [`${TIME}NanoTimestamp`, (kinds) => instantConverter(NANOS, isNumber(kinds))],
  [`${TIME}MicroDuration`, (kinds) => durationConverter(MICROS, isNumber(kinds))],
  [`${TIME}NanoDuration`, (kinds) => durationConverter(NANOS, isNumber(kinds))],
  [`${TIME}ZonedTimestamp`, (kinds) => isoConverter(isNumber(kinds))],
  [`${TIME}ZonedTime`, (kinds) => isoTimeConverter(isNumber(kinds))],
  [`${TIME}IsoTimestamp`, (kinds) => isoConverter(isNumber(kinds))],
  [`${TIME}IsoDate`, (kinds) => withoutZone(isoConverter(isNumber(kinds)))],
  [`${TIME}IsoTime`, (kinds) => withoutZone(isoTimeConverter(isNumber(kinds)))],
  [`${TIME}StructuredDate`, unlessObject((kinds) => structuredDay(isNumber(kinds)))],
  [`${TIME}StructuredTime`, unlessObject((kinds) => structuredClock(isNumber(kinds)))],
  [`${TIME}StructuredZonedTime`, unlessObject((kinds) => structuredZonedClock(isNumber(kinds)))],
  [`${TIME}StructuredTimestamp`, unlessObject((kinds) => structuredInstant(isNumber(kinds)))],
  [`${TIME}StructuredZonedTimestamp`, unlessObject((kinds) => structuredInstant(isNumber(kinds)))],
  [`${TIME}StructuredDuration`, unlessObject(() => structuredDuration())],
  [`${DATA}VariableScaleDecimal`, unlessObject((kinds) => variableScaleConverter(isNumberOnly(kinds)))],
  [`${DATA}Bits`, (_kinds, parameters) => bitsConverter(parameters)],
  [JSON_TYPE, (kinds) => (isJson(kinds) ? jsonOf : undefined)],
]);

export const CONNECT_TYPES: readonly string[] = [...TYPES.keys()];

/** Texts of a few values, which the schema lists. */
export const ENUM_TYPE = `${DATA}Enum`;

/** The values that a type lists; undefined: it lists none. */
export function enumSymbols(name: unknown, parameters: unknown): readonly string[] | undefined {
  const { allowed } = Object(parameters) as { readonly allowed?: unknown };
  return name === ENUM_TYPE && typeof allowed === 'string' ? allowed.split(',') : undefined;
}

const NOTES: readonly (readonly [end: RegExp, note: string])[] = [
  [/Decimal$/, DECIMAL],
  [/Timestamp$/, 'an ISO 8601 time'],
  [/Date$/, 'a day of ISO 8601'],
  [/Time$/, 'a time of day of ISO 8601'],
  [/Duration$/, 'a duration of ISO 8601'],
  [/Bits$/, 'bits, the highest first'],
];

/** What the text of a type stands for. */
export function noteOf(name: unknown): string | undefined {
  return NOTES.find(([end]) => end.test(String(name)))?.[1];
}

/**
 * Compiles the conversion of a type that Kafka Connect names. undefined: its values are in JSON what the fields read.
 * @param kinds of the fields that read the value
 */
export function connectType(name: unknown, kinds: Kinds, parameters: ConnectParameters = {}): ConvertValue | undefined {
  return TYPES.get(name as string)?.(kinds, parameters);
}

/** Of a type whose values are structs, which a field may read as they are. */
function unlessObject(compile: (kinds: Kinds) => ConvertValue): Compile {
  return (kinds) => (kinds.has('object') ? undefined : compile(kinds));
}

function isNumber(kinds: Kinds): boolean {
  return kinds.has('number');
}

function isNumberOnly(kinds: Kinds): boolean {
  return kinds.size === 1 && kinds.has('number');
}

/** A field of text reads the text. */
function isJson(kinds: Kinds): boolean {
  return (kinds.has('object') || kinds.has('custom')) && !kinds.has('text') && !kinds.has('number');
}
