import type { ReadValue, RecordBytes } from '../record-bytes.ts';

export const PRIMITIVES: Readonly<Record<string, ReadValue>> = {
  null: () => null,
  boolean: readBoolean,
  int: readInt,
  long: (bytes) => bytes.zigzag64(),
  float: (bytes) => bytes.float(),
  double: (bytes) => bytes.double(),
  bytes: (bytes) => bytes.base64(readLength(bytes)),
  string: readText,
};

function readBoolean(bytes: RecordBytes): boolean {
  const byte = bytes.byte();
  if (byte > 1) bytes.fail();
  return byte === 1;
}

export function readInt(bytes: RecordBytes): number {
  const value = bytes.zigzag64();
  if (typeof value !== 'number' || value !== (value | 0)) bytes.fail();
  return value;
}

/** Of the bytes that follow. */
export function readLength(bytes: RecordBytes): number {
  const length = bytes.zigzag64();
  if (typeof length !== 'number' || length < 0) bytes.fail();
  return length;
}

export function readText(bytes: RecordBytes): string {
  return bytes.text(readLength(bytes));
}
