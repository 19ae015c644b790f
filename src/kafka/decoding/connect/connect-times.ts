import { MS_PER_DAY, clockText, dateText, dateTimeText, epochMs, fraction, secondsOf } from '../time-text.ts';
import { integerOf } from './connect-value.ts';
import type { ConvertValue } from './connect-value.ts';

const SECONDS_PER_HOUR = 3600;
const NANOS_PER_SECOND = 1e9;

/** Units per second. */
export const MILLIS = 1e3;
export const MICROS = 1e6;
export const NANOS = 1e9;

const INFINITY = 'infinity';
/** Days of PostgreSQL's `infinity` and `-infinity`: the ends of INT32 while Debezium streams; those of a snapshot, whose days have 32 bits. */
const INFINITE_DAYS: ReadonlyMap<string, string> = new Map([
  ['2147483647', INFINITY],
  ['-622191233', INFINITY],
  ['-2147483648', `-${INFINITY}`],
  ['622191232', `-${INFINITY}`],
]);
/** Times of the same: those of PGStatement, and the ends of INT64 in nanoseconds. */
const INFINITE_TIMES: ReadonlyMap<string, string> = new Map([
  ['9223372036825200000', INFINITY],
  ['9223372036854775807', INFINITY],
  ['-9223372036832400000', `-${INFINITY}`],
  ['-9223372036854775808', `-${INFINITY}`],
]);

/** Of days since 1970: `2026-11-24`. @param isNumber true: ms */
export function dayConverter(isNumber: boolean): ConvertValue {
  return (value, texts) => {
    const days = integerOf(value);
    if (days === undefined) return value;
    const infinity = INFINITE_DAYS.get(String(days));
    if (isNumber) return infinity === undefined ? Number(days) * MS_PER_DAY : texts.beyondJson();
    const text = infinity ?? dateText(Number(days));
    return text === undefined ? texts.beyondJson() : texts.charged(text);
  };
}

/** Of a time since 1970: `2026-11-24T02:07:50.123Z`. */
export function instantConverter(unitsPerSecond: number, isNumber: boolean): ConvertValue {
  return unitConverter(unitsPerSecond, isNumber, (seconds, nanos) => {
    const text = dateTimeText(seconds, nanos);
    return text && `${text}Z`;
  });
}

/** Of a time since midnight: `02:07:50.123`. 24:00 and MySQL's times of many hours, or before 0, are as the databases print them. */
export function clockConverter(unitsPerSecond: number, isNumber: boolean): ConvertValue {
  return unitConverter(unitsPerSecond, isNumber, (seconds, nanos) =>
    signed(seconds, nanos, (whole, part) =>
      clockText(Math.floor(whole / SECONDS_PER_HOUR), Math.floor(whole / 60) % 60, whole % 60, part),
    ),
  );
}

/** ISO 8601: `PT93784.500S`. */
export function durationConverter(unitsPerSecond: number, isNumber: boolean): ConvertValue {
  return unitConverter(unitsPerSecond, isNumber, (seconds, nanos) =>
    signed(seconds, nanos, (whole, part) => `PT${whole}${fraction(part)}S`),
  );
}

/** Of a text in ISO 8601 that has a date. */
export function isoConverter(isNumber: boolean): ConvertValue | undefined {
  return isNumber ? (value, texts) => msOf(value, String(value), texts) : undefined;
}

/** Of a text in ISO 8601 without a date. */
export function isoTimeConverter(isNumber: boolean): ConvertValue | undefined {
  return isNumber ? (value, texts) => msOf(value, `1970-01-01T${String(value)}`, texts) : undefined;
}

/** Of a day or a time whose text ends with the zone Z, which says nothing of a column without a zone. */
export function withoutZone(convert: ConvertValue | undefined): ConvertValue {
  return (value, texts, levels) => {
    if (convert) return convert(value, texts, levels);
    return typeof value === 'string' && value.endsWith('Z') ? value.slice(0, -1) : value;
  };
}

function unitConverter(
  unitsPerSecond: number,
  isNumber: boolean,
  textOf: (seconds: number, nanos: number) => string | undefined,
): ConvertValue {
  return (value, texts) => {
    const units = integerOf(value);
    if (units === undefined) return value;
    const infinity = Number.isSafeInteger(units) ? undefined : INFINITE_TIMES.get(String(units));
    const { seconds, nanos } = secondsOf(units, unitsPerSecond);
    if (isNumber) return infinity === undefined ? epochMs(seconds, nanos) : texts.beyondJson();
    const text = infinity ?? textOf(seconds, nanos);
    return text === undefined ? texts.beyondJson() : texts.charged(text);
  };
}

/** @param textOf of an amount that is not negative. @param nanos to be added to the seconds */
function signed(seconds: number, nanos: number, textOf: (seconds: number, nanos: number) => string): string {
  if (seconds >= 0) return textOf(seconds, nanos);
  return `-${nanos === 0 ? textOf(-seconds, 0) : textOf(-seconds - 1, NANOS_PER_SECOND - nanos)}`;
}

function msOf(value: unknown, iso: string, texts: { beyondJson(): null }): unknown {
  if (typeof value !== 'string') return value;
  if (value.endsWith(INFINITY)) return texts.beyondJson();
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? value : ms;
}
