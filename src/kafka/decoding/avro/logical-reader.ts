import avro from 'avsc';
import type { PayloadPlace } from '../decoder.ts';
import type { ReadValue, RecordBytes } from '../record-bytes.ts';
import { MS_PER_DAY, dateText, dateTimeText, epochMs, fraction, secondsOf, timeText } from '../time-text.ts';
import { readInt, readLength } from './avro-primitives.ts';
import type { LogicalType } from './avro-schema.ts';
import { decimalNumber, decimalText, MAX_DECIMAL_BYTES, MAX_DECIMAL_DIGITS } from '../decimal-text.ts';

type Kinds = PayloadPlace['kinds'];

const UNITS_PER_SECOND: Readonly<Record<string, number>> = { millis: 1e3, micros: 1e6, nanos: 1e9 };

/** undefined: the logical type does not fit the type that it is of, or is not valid, and Avro says to ignore it. */
export function logicalReader(type: LogicalType, kinds: Kinds): ReadValue | undefined {
  const { attributes, underlyingType } = type;
  const { typeName } = underlyingType;
  const size = underlyingType instanceof avro.types.FixedType ? underlyingType.size : undefined;
  const [, name, unit] = /^(.*?)(?:-(millis|micros|nanos))?$/.exec(attributes.logicalType)!;
  const isNumber = kinds.has('number');
  switch (name) {
    case 'decimal':
      return decimalReader(attributes, typeName === 'bytes' ? 'bytes' : size, kinds);
    case 'uuid':
      return size === 16 ? readUuid : undefined;
    case 'duration':
      return size === 12 ? readDuration : undefined;
    case 'date':
      return typeName === 'int' ? dateReader(isNumber) : undefined;
    case 'time':
      if (typeName !== (unit === 'millis' ? 'int' : 'long')) return undefined;
      return timeReader(UNITS_PER_SECOND[unit!]!, isNumber, timeText);
    case 'timestamp':
    case 'local-timestamp': {
      if (typeName !== 'long') return undefined;
      const zone = name === 'timestamp' ? 'Z' : '';
      return timeReader(UNITS_PER_SECOND[unit!]!, isNumber, (seconds, nanos) => {
        const text = dateTimeText(seconds, nanos);
        return text && text + zone;
      });
    }
    default:
      return undefined;
  }
}

/** @param size of a fixed */
function decimalReader(
  { precision, scale = 0 }: LogicalType['attributes'],
  size: number | 'bytes' | undefined,
  kinds: Kinds,
): ReadValue | undefined {
  if (size === undefined || !isDigits(precision, 1, MAX_DECIMAL_DIGITS) || !isDigits(scale, 0, precision)) {
    return undefined;
  }
  const readText = (bytes: RecordBytes) => {
    const length = size === 'bytes' ? readLength(bytes) : size;
    if (length > MAX_DECIMAL_BYTES) bytes.fail();
    const start = bytes.skip(length);
    return bytes.charged(decimalText(bytes.bytes.subarray(start, bytes.at), scale));
  };
  const isNumber = kinds.size === 1 && kinds.has('number');
  if (!isNumber) return readText;
  return (bytes) => decimalNumber(readText(bytes), () => bytes.beyondJson());
}

function isDigits(count: unknown, min: number, max: number): count is number {
  return Number.isInteger(count) && (count as number) >= min && (count as number) <= max;
}

function readUuid(bytes: RecordBytes): string {
  const start = bytes.skip(16);
  const hex = bytes.bytes.toString('hex', start, bytes.at);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** ISO 8601: `P1M2DT3.004S`. Months have no length, so this is a text also where a number is read. */
function readDuration(bytes: RecordBytes): string {
  const [months, days, ms] = [bytes.fixed32(), bytes.fixed32(), bytes.fixed32()];
  return `P${months}M${days}DT${Math.floor(ms / 1000)}${fraction((ms % 1000) * 1e6)}S`;
}

function dateReader(isNumber: boolean): ReadValue {
  return (bytes) => {
    const days = readInt(bytes);
    return isNumber ? days * MS_PER_DAY : charged(bytes, dateText(days));
  };
}

/** @param text undefined: JSON cannot print the time */
function charged(bytes: RecordBytes, text: string | undefined): string | null {
  return text === undefined ? bytes.beyondJson() : bytes.charged(text);
}

type TimeText = (seconds: number, nanos: number) => string | undefined;

function timeReader(unitsPerSecond: number, isNumber: boolean, textOf: TimeText): ReadValue {
  return (bytes) => {
    const { seconds, nanos } = secondsOf(bytes.zigzag64(), unitsPerSecond);
    return isNumber ? epochMs(seconds, nanos) : charged(bytes, textOf(seconds, nanos));
  };
}
