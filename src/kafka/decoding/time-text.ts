export const MS_PER_DAY = 86_400_000;
const SECONDS_PER_DAY = 86_400;
const NANOS_PER_SECOND = 1e9;

/**
 * ISO 8601 without a zone, with 0, 3, 6 or 9 digits of a second, as Java's Instant and the JSON form of Protobuf have it. undefined:
 * beyond the years that JavaScript knows.
 * @param nanos 0 to 999,999,999
 */
export function dateTimeText(seconds: number, nanos: number): string | undefined {
  const ms = seconds * 1000;
  return isDate(ms) ? new Date(ms).toISOString().slice(0, -5) + fraction(nanos) : undefined;
}

export function dateText(days: number): string | undefined {
  const ms = days * MS_PER_DAY;
  return isDate(ms) ? new Date(ms).toISOString().slice(0, -14) : undefined;
}

/** undefined: no time of a day. */
export function timeText(seconds: number, nanos: number): string | undefined {
  return seconds >= 0 && seconds < SECONDS_PER_DAY ? dateTimeText(seconds, nanos)?.slice(11) : undefined;
}

/** Of a time since midnight, which may be 24:00:00 or more. */
export function clockText(hours: number, minutes: number, seconds: number, nanos: number): string {
  return [hours, minutes, seconds].map((count) => String(count).padStart(2, '0')).join(':') + fraction(nanos);
}

/** @param units since 1970, or of a duration: an integer of 64 bits. */
export function secondsOf(
  units: number | string,
  unitsPerSecond: number,
): { readonly seconds: number; readonly nanos: number } {
  if (typeof units === 'string' || !Number.isSafeInteger(units)) return largeSecondsOf(units, unitsPerSecond);
  const seconds = Math.floor(units / unitsPerSecond);
  return { seconds, nanos: (units - seconds * unitsPerSecond) * (NANOS_PER_SECOND / unitsPerSecond) };
}

function largeSecondsOf(units: number | string, unitsPerSecond: number) {
  const divisor = BigInt(unitsPerSecond);
  // As text: the digits of a large number are those of a text that it was, though the double beneath may differ.
  const value = BigInt(String(units));
  const rest = ((value % divisor) + divisor) % divisor;
  return { seconds: Number((value - rest) / divisor), nanos: Number(rest) * (NANOS_PER_SECOND / unitsPerSecond) };
}

export function epochMs(seconds: number, nanos: number): number {
  return seconds * 1000 + nanos / 1e6;
}

/** `.5` s is `.500`. */
export function fraction(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  return `.${nanos % 1e6 === 0 ? digits.slice(0, 3) : nanos % 1e3 === 0 ? digits.slice(0, 6) : digits}`;
}

function isDate(ms: number): boolean {
  return Math.abs(ms) <= 8.64e15;
}
