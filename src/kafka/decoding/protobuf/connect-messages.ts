import type { Type } from 'protobufjs';
import { decimalNumber, decimalText, MAX_DECIMAL_BYTES, MAX_DECIMAL_DIGITS } from '../decimal-text.ts';
import type { PayloadPlace } from '../decoder.ts';
import type { RecordBytes } from '../record-bytes.ts';
import { MS_PER_DAY, clockText, dateText } from '../time-text.ts';
import type { ReadBody } from './message-body.ts';
import { LENGTH_DELIMITED, skipField, VARINT } from './proto-scalars.ts';

type Kinds = PayloadPlace['kinds'];

const MAX_NANOS = 999_999_999;

/**
 * Messages in which Confluent's ProtobufConverter writes types of Kafka Connect and Debezium, as text or number. undefined: it is none, or fields
 * read it as an object. The converter drops the names of all other types.
 * https://github.com/confluentinc/schema-registry/blob/master/protobuf-converter/src/main/java/io/confluent/connect/protobuf/ProtobufData.java
 */
export function connectBody(type: Type, kinds: Kinds): ReadBody | undefined {
  if (kinds.size === 0 || kinds.has('object')) return undefined;
  if (type.fullName === '.google.type.Date') return dayBody(kinds.has('number'));
  if (type.fullName === '.google.type.TimeOfDay') return clockBody(kinds.has('number'));
  const { scale, value } = type.fields;
  // The namespace of the schema's name is lost, and a field of the same name makes it longer.
  const isDecimal = type.name.startsWith('VariableScaleDecimal') && scale?.type === 'int32' && value?.type === 'bytes';
  return isDecimal && type.fieldsArray.length === 2 ? decimalBody(kinds, value.id, scale.id) : undefined;
}

/** @param valueId of the field with the unscaled value. @param scaleId of the field with the scale */
export function decimalBody(kinds: Kinds, valueId: number, scaleId: number): ReadBody {
  const isNumber = kinds.size === 1 && kinds.has('number');
  const valueTag = (valueId << 3) | LENGTH_DELIMITED;
  const scaleTag = (scaleId << 3) | VARINT;
  return (bytes, levels) => {
    let [start, length, scale] = [bytes.at, 0, 0];
    while (bytes.at < bytes.end) {
      const tag = bytes.uint32();
      if (tag === valueTag) start = bytes.skip((length = bytes.uint32()));
      else if (tag === scaleTag) scale = bytes.int32();
      else skipField(bytes, tag, levels);
    }
    if (length > MAX_DECIMAL_BYTES || Math.abs(scale) > MAX_DECIMAL_DIGITS) return bytes.beyondJson();
    const text = bytes.charged(decimalText(bytes.bytes.subarray(start, start + length), scale));
    return isNumber ? decimalNumber(text, () => bytes.beyondJson()) : text;
  };
}

/** Null without a year, a month or a day, which a date of Connect has. */
function dayBody(isNumber: boolean): ReadBody {
  return (bytes, levels) => {
    const [year = 0, month = 0, day = 0] = readIntegers(bytes, levels);
    const ms = new Date(0).setUTCFullYear(year, month - 1, day);
    const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && new Date(ms).getUTCDate() === day;
    if (!isDate) return bytes.beyondJson();
    const text = dateText(ms / MS_PER_DAY);
    if (text === undefined) return bytes.beyondJson();
    return isNumber ? ms : bytes.charged(text);
  };
}

/** 24:00:00 is the end of a day. */
function clockBody(isNumber: boolean): ReadBody {
  return (bytes, levels) => {
    const [hours = 0, minutes = 0, seconds = 0, nanos = 0] = readIntegers(bytes, levels);
    const isTime = isUpTo(hours, 24) && isUpTo(minutes, 59) && isUpTo(seconds, 60) && isUpTo(nanos, MAX_NANOS);
    if (!isTime) return bytes.beyondJson();
    if (isNumber) return ((hours * 60 + minutes) * 60 + seconds) * 1000 + nanos / 1e6;
    return bytes.charged(clockText(hours, minutes, seconds, nanos));
  };
}

function isUpTo(count: number, max: number): boolean {
  return count >= 0 && count <= max;
}

/** Of a message of integers, by their ids from 1 to 4. */
function readIntegers(bytes: RecordBytes, levels: number): readonly number[] {
  const integers: number[] = [0, 0, 0, 0];
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    const id = tag >>> 3;
    if ((tag & 7) === VARINT && id >= 1 && id <= integers.length) integers[id - 1] = bytes.int32();
    else skipField(bytes, tag, levels);
  }
  return integers;
}
