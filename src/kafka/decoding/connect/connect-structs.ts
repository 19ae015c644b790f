import { clockText, fraction } from '../time-text.ts';
import type { ConvertValue, PayloadTexts } from './connect-value.ts';

/** Text and ms of a time that is written as a struct. */
interface StructuredTime {
  readonly text: string;
  /** undefined: it has no length, or is no time of the calendar. */
  readonly ms: number | undefined;
}

/** Keys of a record of Avro may have been renamed already. */
const RENAMED: Readonly<Record<string, string>> = { offsetSeconds: 'offset_seconds', specialValue: 'special_value' };

/** A number of the struct; 0: it has none. */
type Part = (name: string) => number;

/** Debezium's days with `time.precision.mode=structured`: `{"year": 2026, "month": 11, "day": 24}`. MySQL's `0000-00-00` is one, too. */
export function structuredDay(isNumber: boolean): ConvertValue {
  return structConverter(isNumber, 'day', (part) => ({ text: dayText(part), ms: dayMs(part) }));
}

export function structuredClock(isNumber: boolean): ConvertValue {
  return structConverter(isNumber, 'hour', (part) => ({ text: clock(part), ms: clockMs(part) }));
}

export function structuredZonedClock(isNumber: boolean): ConvertValue {
  return structConverter(isNumber, 'hour', (part) => {
    const offset = part('offsetSeconds');
    return { text: clock(part) + zoneText(offset), ms: clockMs(part) - offset * 1000 };
  });
}

/** Without an offset it is taken for UTC, like the other timestamps. */
export function structuredInstant(isNumber: boolean): ConvertValue {
  return structConverter(isNumber, 'day', (part) => {
    const offset = part('offsetSeconds');
    const day = dayMs(part);
    const ms = day === undefined ? undefined : day + clockMs(part) - offset * 1000;
    return { text: `${dayText(part)}T${clock(part)}${zoneText(offset)}`, ms };
  });
}

/** As Debezium's Interval is written; a text also where a number is read, because months have no length. */
export function structuredDuration(): ConvertValue {
  return structConverter(false, 'seconds', (part) => {
    const [seconds, nanos] = [part('seconds'), part('nanos')];
    const sign = seconds < 0 || nanos < 0 ? '-' : '';
    const exact = `${sign}${Math.abs(seconds)}${fraction(Math.abs(nanos))}`;
    const day = `P${part('years')}Y${part('months')}M${part('days')}D`;
    return { text: `${day}T${part('hours')}H${part('minutes')}M${exact}S`, ms: undefined };
  });
}

/** @param key that a struct of this kind has, with a number, unless it is infinite */
function structConverter(isNumber: boolean, key: string, timeOf: (part: Part) => StructuredTime): ConvertValue {
  return (value, texts) => {
    const struct = Object(value) as Readonly<Record<string, unknown>>;
    const member = (name: string) => struct[name] ?? struct[RENAMED[name]!];
    const special = member('specialValue');
    if (typeof special === 'string') return infinityOf(special, isNumber, texts);
    if (typeof struct[key] !== 'number') return value;
    const { text, ms } = timeOf((name) => Number(member(name) ?? 0));
    return isNumber && ms !== undefined ? ms : texts.charged(text);
  };
}

function infinityOf(special: string, isNumber: boolean, texts: PayloadTexts): string | null {
  return isNumber ? texts.beyondJson() : special === 'NEGATIVE_INFINITY' ? '-infinity' : 'infinity';
}

function dayText(part: Part): string {
  const year = part('year');
  const digits = String(Math.abs(year));
  const isCommon = year >= 0 && year <= 9999;
  const sign = year < 0 ? '-' : '+';
  const ofYear = isCommon ? digits.padStart(4, '0') : sign + digits.padStart(6, '0');
  return `${ofYear}-${twoDigits(part('month'))}-${twoDigits(part('day'))}`;
}

function dayMs(part: Part): number | undefined {
  const [month, day] = [part('month'), part('day')];
  if (month < 1 || day < 1) return undefined;
  const ms = new Date(0).setUTCFullYear(part('year'), month - 1, day);
  return Number.isNaN(ms) ? undefined : ms;
}

function clock(part: Part): string {
  return clockText(part('hour'), part('minute'), part('second'), part('nanos'));
}

function clockMs(part: Part): number {
  return ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000 + part('nanos') / 1e6;
}

function zoneText(offsetSeconds: number): string {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(count: number): string {
  return String(count).padStart(2, '0');
}
