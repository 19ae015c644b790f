import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A tombstone follows its delete at once; records of other partitions may be between them. */
const MAX_KEYS = 1000;
const MAX_NAME_BYTES = 128;

/** The keys of the rows of a topic that were deleted last, whose tombstones are yet to come. */
export class DeletedKeys {
  readonly #names = new LRUCache<string, true>({ max: MAX_KEYS });

  has(key: Buffer | null): boolean {
    return key !== null && this.#names.has(nameOf(key));
  }

  /** The row of a key has changed. */
  note(key: Buffer | null, isDeleted: boolean): void {
    if (key === null) return;
    if (isDeleted) this.#names.set(nameOf(key), true);
    else if (this.#names.size > 0) this.#names.delete(nameOf(key));
  }
}

/** Of a key; of a long one its hash, because many are kept. */
function nameOf(key: Buffer): string {
  return key.length <= MAX_NAME_BYTES ? key.toString('latin1') : createHash('sha256').update(key).digest('base64');
}
