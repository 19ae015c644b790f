import { randomUUID } from 'node:crypto';

/** A flat string. V8 keeps the string that `randomUUID` concatenates as a tree of its parts: 480 bytes instead of 56. */
export function connectionId(): string {
  return Buffer.from(randomUUID()).toString('latin1');
}
