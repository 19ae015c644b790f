const METADATA = /^crier:([0-9a-z,+]*)$/;
/** The brokers' default limit (`offset.metadata.max.bytes`). */
const MAX_METADATA_LENGTH = 4096;

/**
 * The records of a partition that are done, with gaps: a commit's offset, and ranges after it in the commit's metadata. Holds one entry
 * for each done record after the first one that is not done.
 */
export class HandledOffsets {
  #next: number;
  readonly #done: Set<number>;

  /** `next`: the first record that is not done. */
  constructor(next: number, metadata = '') {
    this.#next = next;
    this.#done = new Set(rangesOf(METADATA.exec(metadata)?.[1] ?? '', next));
  }

  /** The first record that is not done. */
  get next(): number {
    return this.#next;
  }

  has(offset: number): boolean {
    return offset < this.#next || this.#done.has(offset);
  }

  add(offset: number): void {
    if (offset >= this.#next) this.#done.add(offset);
    while (this.#done.delete(this.#next)) this.#next++;
  }

  /** @throws Error if a commit cannot hold the number of gaps */
  get metadata(): string {
    const parts: string[] = [];
    let end = this.#next;
    const offsets = [...this.#done].sort((one, other) => one - other);
    for (let i = 0; i < offsets.length;) {
      const start = offsets[i]!;
      let length = 1;
      while (offsets[i + length] === start + length) length++;
      parts.push(`${(start - end).toString(36)}+${length.toString(36)}`);
      end = start + length;
      i += length;
    }
    const text = `crier:${parts.join(',')}`;
    if (text.length > MAX_METADATA_LENGTH) {
      throw new Error(
        'too many dead letters lie between those that are done: replay or drop these first, without a filter',
      );
    }
    return text;
  }
}

/** Offsets of a text of `gap+length` pairs: `3+2,1+1` after 10 means 13, 14, 16. */
function* rangesOf(text: string, next: number): Generator<number, void, void> {
  let end = next;
  for (const part of text.split(',')) {
    const [gap, length] = part.split('+').map((number) => parseInt(number, 36));
    if (gap === undefined || length === undefined || !(gap >= 0) || !(length > 0)) return;
    for (let offset = end + gap; offset < end + gap + length; offset++) yield offset;
    end += gap + length;
  }
}
