import { isJsonObject } from '../../base/json/json-object.ts';

/** What a value looks like that a connector wrote without a schema. */
export interface RawValue {
  /** Follows what names the value and its place. */
  readonly likeness: string;
  readonly fix: string;
  /** False: it may be meant so. */
  readonly isCertain: boolean;
}

/** The end of a field's name, as `created_at` and `createdAt` have it. */
const TIME = /(?:^|_)(?:at|date|day|time|timestamp)$|[a-z0-9](?:At|Date|Day|Time|Timestamp)$/;
const DAY = /(?:^|_)(?:date|day)$|[a-z0-9](?:Date|Day)$/;
/** Of integers since 1970, in this century. */
const UNITS: readonly { readonly digits: RegExp; readonly unit: string; readonly name: RegExp }[] = [
  { digits: /^[1-4]\d{4}$/, unit: 'days', name: DAY },
  { digits: /^[1-3]\d{12}$/, unit: 'milliseconds', name: TIME },
  { digits: /^[1-3]\d{15}$/, unit: 'microseconds', name: TIME },
  { digits: /^[1-3]\d{18}$/, unit: 'nanoseconds', name: TIME },
];
/** Canonical base64 that is no word and no number. */
const BASE64 = /^(?=.*[=+/])(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/;
const MAX_BASE64 = 44;

const WITH_SCHEMA = 'or schemas.enable=true of its converter with an envelope in @kafka';
const DECIMAL_FIX = `set decimal.handling.mode=string of Debezium, or decimal.format=NUMERIC of JsonConverter, ${WITH_SCHEMA}`;

/** Of a field of the type String. undefined: it does not look like a time. */
export function rawTime(field: string, value: unknown): RawValue | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value);
  const found = UNITS.find(({ digits, name }) => digits.test(text) && name.test(field));
  if (!found) return undefined;
  return {
    likeness: `that looks like ${found.unit} since 1970, and the field shows its digits`,
    fix: `set time.precision.mode=isostring of Debezium, ${WITH_SCHEMA}`,
    // A program may write these as well as a connector.
    isCertain: found.unit !== 'milliseconds',
  };
}

/** Of a value that its field cannot show. undefined: it does not look like a decimal. */
export function rawDecimal(value: unknown): RawValue | undefined {
  const isBytes = typeof value === 'string' && value.length <= MAX_BASE64 && BASE64.test(value);
  if (!isBytes && !isVariableScale(value)) return undefined;
  return { likeness: "that looks like a decimal's bytes", fix: DECIMAL_FIX, isCertain: true };
}

/** Debezium's decimals whose scale differs between records. */
function isVariableScale(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 2 &&
    Number.isInteger(value['scale']) &&
    typeof value['value'] === 'string'
  );
}
