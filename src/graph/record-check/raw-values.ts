import { isJsonObject } from '../../base/json/json-object.ts';

/** What a value looks like that a connector wrote without a schema. */
export interface RawValue {
  /** Follows what names the value and its place. */
  readonly likeness: string;
  readonly fix: string;
  /** False: it may be meant so. */
  readonly isCertain: boolean;
}

type Unit = 'days' | 'milliseconds' | 'microseconds' | 'nanoseconds';

/** The end of a field's name, as `created_at` and `createdAt` have it. */
const TIME = /(?:^|_)(?:at|date|day|time|timestamp)$|[a-z0-9](?:At|Date|Day|Time|Timestamp)$/;
const DAY = /(?:^|_)(?:date|day)$|[a-z0-9](?:Date|Day)$/;
/** Of integers since 1970, in this century. */
const UNITS: readonly { readonly digits: RegExp; readonly unit: Unit; readonly name: RegExp }[] = [
  { digits: /^[1-4]\d{4}$/, unit: 'days', name: DAY },
  { digits: /^[1-3]\d{12}$/, unit: 'milliseconds', name: TIME },
  { digits: /^[1-3]\d{15}$/, unit: 'microseconds', name: TIME },
  { digits: /^[1-3]\d{18}$/, unit: 'nanoseconds', name: TIME },
];
/** Canonical base64 that is no word and no number. */
const BASE64 = /^(?=.*[=+/])(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/;
const MAX_BASE64 = 44;
/** Longer texts are tokens and digests more often than numbers of 29 digits. */
const MAX_PADDED_BASE64 = 16;
/** Microseconds since 1970, from 2001 to 2065, whatever the field is called. */
const MICROSECONDS = /^[12]\d{15}$/;
/** Fields that numbers of any size identify. */
const ID = /(?:^|_)ids?$|[a-z0-9]Ids?$/;

const WITH_SCHEMA = 'or schemas.enable=true of its converter with an envelope in @kafka';
const DECIMAL_FIX = `set decimal.handling.mode=string of Debezium, or decimal.format=NUMERIC of JsonConverter, ${WITH_SCHEMA}`;

const DECIMAL: RawValue = { likeness: "that looks like a decimal's bytes", fix: DECIMAL_FIX, isCertain: true };
const MAYBE_DECIMAL: RawValue = { likeness: "that may be a decimal's bytes", fix: DECIMAL_FIX, isCertain: false };

/** Of a field of the type String. undefined: it does not look like a time. */
export function rawTime(field: string, value: unknown): RawValue | undefined {
  const unit = unitOf(field, value);
  // A program may write milliseconds as well as a connector.
  return unit && timeIn(unit, 'looks like', unit !== 'milliseconds');
}

/** Of a value that its field cannot show. undefined: it does not look like a decimal. */
export function rawDecimal(value: unknown): RawValue | undefined {
  const isBytes = typeof value === 'string' && value.length <= MAX_BASE64 && BASE64.test(value);
  if (!isBytes && !isVariableScale(value)) return undefined;
  return DECIMAL;
}

/**
 * What a column of Debezium looks like in JSON without a schema, whatever the type of its field is. undefined: not all of its values look so.
 * @param values those that are not null
 */
export function rawColumn(field: string, values: readonly unknown[]): RawValue | undefined {
  if (values.length === 0) return undefined;
  if (values.every(isVariableScale)) return DECIMAL;
  if (values.every(isShortBase64) && values.some((value) => (value as string).endsWith('='))) return MAYBE_DECIMAL;
  const unit = values.map((value) => unitOf(field, value)).find((one) => one !== undefined);
  // Milliseconds are good numbers.
  if (unit && unit !== 'milliseconds')
    return isColumnOf(unit, field, values) ? timeIn(unit, 'looks like', true) : undefined;
  const mayBeTimes = !ID.test(field) && values.every((value) => isWhole(value) && MICROSECONDS.test(String(value)));
  return mayBeTimes ? timeIn('microseconds', 'may be', false) : undefined;
}

/** True if half of the values look like the unit, and the others like times that are nearer to 1970. */
function isColumnOf(unit: Unit, field: string, values: readonly unknown[]): boolean {
  const recent = values.filter((value) => unitOf(field, value) === unit);
  const { length } = String(recent[0]);
  const isEarlier = (value: unknown) =>
    isWhole(value) && /^-?\d+$/.test(String(value)) && String(value).length <= length;
  return recent.length * 2 >= values.length && values.every(isEarlier);
}

function unitOf(field: string, value: unknown): Unit | undefined {
  if (!isWhole(value)) return undefined;
  const text = String(value);
  return UNITS.find(({ digits, name }) => digits.test(text) && name.test(field))?.unit;
}

function timeIn(unit: Unit, verb: string, isCertain: boolean): RawValue {
  const likeness = `that ${verb} ${unit} since 1970, and the field shows its digits`;
  return { likeness, fix: `set time.precision.mode=isostring of Debezium, ${WITH_SCHEMA}`, isCertain };
}

/** A large integer is a text, which keeps its digits. */
function isWhole(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isShortBase64(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.length > MAX_PADDED_BASE64) return false;
  return Buffer.from(value, 'base64').toString('base64') === value;
}

/** Debezium's decimals whose scale differs between records. */
export function isVariableScale(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    Number.isInteger(value['scale']) &&
    typeof value['value'] === 'string'
  );
}
