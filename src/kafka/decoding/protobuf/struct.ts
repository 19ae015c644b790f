import type { RecordBytes } from '../record-bytes.ts';
import { readDelimited } from './message-body.ts';
import { skipField } from './proto-scalars.ts';

/** Of `"":0,`. */
const MIN_ENTRY_WIDTH = 5;

/** google.protobuf.Struct: its keys are data, and stay as they are. */
export function readStruct(bytes: RecordBytes, levels: number): Record<string, unknown> {
  bytes.enter(levels, 2);
  const values: Record<string, unknown> = {};
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    if (tag === 10) readEntry(bytes, levels - 1, values);
    else skipField(bytes, tag, levels);
  }
  return values;
}

export function readListValue(bytes: RecordBytes, levels: number): unknown[] {
  bytes.enter(levels, 2);
  const items: unknown[] = [];
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    if (tag !== 10) {
      skipField(bytes, tag, levels);
      continue;
    }
    bytes.spend(2);
    items.push(readDelimited(bytes, levels - 1, readValue));
  }
  return items;
}

export function readValue(bytes: RecordBytes, levels: number): unknown {
  let value: unknown = null;
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    switch (tag) {
      case 8:
        bytes.int32();
        value = null;
        break;
      case 17:
        value = bytes.double();
        break;
      case 26:
        value = bytes.text(bytes.uint32());
        break;
      case 32:
        value = bytes.boolean();
        break;
      case 42:
        value = readDelimited(bytes, levels, readStruct);
        break;
      case 50:
        value = readDelimited(bytes, levels, readListValue);
        break;
      default:
        skipField(bytes, tag, levels);
    }
  }
  return value;
}

function readEntry(bytes: RecordBytes, levels: number, values: Record<string, unknown>): void {
  bytes.spend(MIN_ENTRY_WIDTH);
  const outer = bytes.startMessage();
  let key = '';
  let value: unknown = null;
  while (bytes.at < bytes.end) {
    const tag = bytes.uint32();
    if (tag === 10) key = bytes.text(bytes.uint32());
    else if (tag === 18) value = readDelimited(bytes, levels, readValue);
    else skipField(bytes, tag, levels);
  }
  bytes.end = outer;
  if (key !== '__proto__') values[key] = value;
}
