import type { RecordBytes } from '../record-bytes.ts';

/** Reads a message up to the end of `bytes`. @param into the value that the field has already: its message is merged with this one */
export type ReadBody = (bytes: RecordBytes, levels: number, into?: unknown) => unknown;

/** By the full name of a message, without the leading dot; undefined: the schema has no such message. */
export type BodyOf = (name: string) => { readonly read: ReadBody; readonly isWellKnown: boolean } | undefined;

/** Reads a message that follows its length. */
export function readDelimited(bytes: RecordBytes, levels: number, read: ReadBody, into?: unknown): unknown {
  const outer = bytes.startMessage();
  const value = read(bytes, levels, into);
  bytes.end = outer;
  return value;
}
