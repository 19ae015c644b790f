import type { SchemaPlace } from '../schema-place.ts';
import type { RecordBytes } from '../record-bytes.ts';
import { dateTimeText, epochMs, fraction } from '../time-text.ts';
import { anyBody } from './any.ts';
import { decimalBody } from './connect-messages.ts';
import type { BodyOf, ReadBody } from './message-body.ts';
import { PROTO_SCALARS, skipField } from './proto-scalars.ts';
import { readListValue, readStruct, readValue } from './struct.ts';

type Compile = (place: SchemaPlace, bodyOf: BodyOf) => ReadBody;

const PACKAGE = '.google.protobuf.';
/** Messages of one scalar, which is null without the message. */
const WRAPPERS = ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes'];
const MAX_NANOS = 999_999_999;

/** Messages that have a JSON form of their own, by full name. A nested one is read with a level less. */
export const WELL_KNOWN: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  [`${PACKAGE}Timestamp`, timestampBody],
  [`${PACKAGE}Duration`, durationBody],
  [`${PACKAGE}FieldMask`, () => readFieldMask],
  [`${PACKAGE}Struct`, () => readStruct],
  [`${PACKAGE}Value`, () => readValue],
  [`${PACKAGE}ListValue`, () => readListValue],
  [`${PACKAGE}Any`, anyBody],
  ['.confluent.type.Decimal', ({ kinds }) => decimalBody(kinds, 1, 3)],
  ...WRAPPERS.map((name): [string, Compile] => [`${PACKAGE}${name}Value`, wrapperBody(name.toLowerCase())]),
]);

/** Those whose keys are data. */
export const OPEN_TYPES: ReadonlySet<string> = new Set(
  ['Struct', 'Value', 'ListValue', 'Any'].map((name) => `${PACKAGE}${name}`),
);

function wrapperBody(scalar: string): Compile {
  const { wireType, zero, read } = PROTO_SCALARS[scalar]!;
  const valueTag = 8 | wireType;
  return () => (bytes, levels) => {
    let value = zero;
    while (bytes.at < bytes.end) {
      const tag = bytes.uint32();
      if (tag === valueTag) value = read(bytes);
      else skipField(bytes, tag, levels);
    }
    return value;
  };
}

function timestampBody({ kinds }: SchemaPlace): ReadBody {
  const isNumber = kinds.has('number');
  return (bytes, levels) => {
    const [seconds, nanos] = readSeconds(bytes, levels);
    if (typeof seconds === 'string' || nanos < 0 || nanos > MAX_NANOS) return bytes.beyondJson();
    if (isNumber) return epochMs(seconds, nanos);
    const text = dateTimeText(seconds, nanos);
    return text === undefined ? bytes.beyondJson() : bytes.charged(`${text}Z`);
  };
}

function durationBody({ kinds }: SchemaPlace): ReadBody {
  const isNumber = kinds.has('number');
  return (bytes, levels) => {
    const [seconds, nanos] = readSeconds(bytes, levels);
    if (typeof seconds === 'string' || Math.abs(nanos) > MAX_NANOS) return bytes.beyondJson();
    if (isNumber) return epochMs(seconds, nanos);
    const sign = seconds < 0 || nanos < 0 ? '-' : '';
    return bytes.charged(`${sign}${Math.abs(seconds)}${fraction(Math.abs(nanos))}s`);
  };
}

/** Of a Timestamp or a Duration, with nanoseconds. */
function readSeconds(bytes: RecordBytes, levels: number): [number | string, number] {
  let seconds: number | string = 0;
  let nanos = 0;
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    if (tag === 8) seconds = bytes.int64();
    else if (tag === 16) nanos = bytes.int32();
    else skipField(bytes, tag, levels);
  }
  return [seconds, nanos];
}

/** Paths in lowerCamelCase, as the JSON form of Protobuf has them. */
function readFieldMask(bytes: RecordBytes, levels: number): string {
  const paths: string[] = [];
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    if (tag === 10)
      paths.push(bytes.text(bytes.uint32()).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));
    else skipField(bytes, tag, levels);
  }
  return paths.join();
}
