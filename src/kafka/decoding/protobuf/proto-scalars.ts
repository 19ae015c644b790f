import type { Enum } from 'protobufjs';
import type { RecordBytes } from '../record-bytes.ts';

export const VARINT = 0;
export const BITS_64 = 1;
export const LENGTH_DELIMITED = 2;
export const GROUP = 3;
export const GROUP_END = 4;
export const BITS_32 = 5;

/** A type whose values are no messages. */
export interface ProtoScalar {
  readonly wireType: number;
  /** The value of a field without presence that is not in the bytes. */
  readonly zero: unknown;
  readonly read: (bytes: RecordBytes) => unknown;
}

const NULL_VALUE = '.google.protobuf.NullValue';

export const PROTO_SCALARS: Readonly<Record<string, ProtoScalar>> = {
  double: { wireType: BITS_64, zero: 0, read: (bytes) => bytes.double() },
  float: { wireType: BITS_32, zero: 0, read: (bytes) => bytes.float() },
  int32: { wireType: VARINT, zero: 0, read: (bytes) => bytes.int32() },
  uint32: { wireType: VARINT, zero: 0, read: (bytes) => bytes.uint32() },
  sint32: { wireType: VARINT, zero: 0, read: (bytes) => bytes.zigzag32() },
  int64: { wireType: VARINT, zero: 0, read: (bytes) => bytes.int64() },
  uint64: { wireType: VARINT, zero: 0, read: (bytes) => bytes.uint64() },
  sint64: { wireType: VARINT, zero: 0, read: (bytes) => bytes.zigzag64() },
  fixed32: { wireType: BITS_32, zero: 0, read: (bytes) => bytes.fixed32() },
  sfixed32: { wireType: BITS_32, zero: 0, read: (bytes) => bytes.signedFixed32() },
  fixed64: { wireType: BITS_64, zero: 0, read: (bytes) => bytes.fixed64() },
  sfixed64: { wireType: BITS_64, zero: 0, read: (bytes) => bytes.signedFixed64() },
  bool: { wireType: VARINT, zero: false, read: (bytes) => bytes.boolean() },
  string: { wireType: LENGTH_DELIMITED, zero: '', read: (bytes) => bytes.text(bytes.uint32()) },
  bytes: { wireType: LENGTH_DELIMITED, zero: '', read: (bytes) => bytes.base64(bytes.uint32()) },
};

/** Values are names; a number that the schema does not know stays a number. */
export function enumScalar({ fullName, valuesById }: Enum): ProtoScalar {
  if (fullName === NULL_VALUE) {
    const read = (bytes: RecordBytes) => (bytes.int32(), null);
    return { wireType: VARINT, zero: null, read };
  }
  const names = new Map(Object.entries(valuesById).map(([id, name]) => [Number(id), name]));
  const nameOf = (id: number) => names.get(id) ?? id;
  const read = (bytes: RecordBytes) => {
    const name = nameOf(bytes.int32());
    return typeof name === 'string' ? bytes.charged(name) : name;
  };
  return { wireType: VARINT, zero: nameOf(0), read };
}

/** Reads the value of a field that the schema does not have. */
export function skipField(bytes: RecordBytes, tag: number, levels: number): void {
  // Fields are counted from 1.
  if (tag < 8) bytes.fail();
  switch (tag & 7) {
    case VARINT:
      bytes.int32();
      break;
    case BITS_64:
      bytes.skip(8);
      break;
    case LENGTH_DELIMITED:
      bytes.skip(bytes.uint32());
      break;
    case GROUP:
      skipGroup(bytes, tag + 1, levels);
      break;
    case BITS_32:
      bytes.skip(4);
      break;
    default:
      bytes.fail();
  }
}

function skipGroup(bytes: RecordBytes, endTag: number, levels: number): void {
  bytes.enter(levels, 0);
  for (let tag = bytes.uint32(); tag !== endTag; tag = bytes.uint32()) skipField(bytes, tag, levels - 1);
}
