const BYTES_PER_OBJECT = 56;
const BYTES_PER_MEMBER = 32;
const BYTES_PER_ITEM = 8;
const BYTES_PER_STRING = 16;

/** Memory that plain data takes in V8, in bytes: an estimate, linear in the data, of any depth. */
export function weightOf(value: unknown): number {
  let bytes = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string') bytes += textWeight(next);
    else if (Array.isArray(next)) {
      bytes += BYTES_PER_OBJECT + next.length * BYTES_PER_ITEM;
      for (const item of next) left.push(item);
    } else if (typeof next === 'object' && next !== null) {
      const members = Object.values(next) as unknown[];
      bytes += BYTES_PER_OBJECT + members.length * BYTES_PER_MEMBER;
      for (const member of members) left.push(member);
    }
  }
  return bytes;
}

/** Of a string: V8 keeps one byte for a character where all are of Latin-1, else two. */
export function textWeight(text: string): number {
  return BYTES_PER_STRING + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);
}
