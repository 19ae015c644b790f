const BYTES_PER_OBJECT = 56;
const BYTES_PER_MEMBER = 32;
const BYTES_PER_ITEM = 8;
const BYTES_PER_STRING = 16;

/** Estimated memory of plain data in V8, in bytes. Takes data of any depth, in linear time. */
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

/** Estimated memory of a string: V8 takes one byte for each character if all are Latin-1, else two. */
export function textWeight(text: string): number {
  return BYTES_PER_STRING + (Buffer.byteLength(text) === text.length ? text.length : 2 * text.length);
}
