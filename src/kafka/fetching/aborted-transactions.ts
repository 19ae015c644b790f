import type { FetchedPartition } from './fetch-response.ts';
import { CorruptBatchError } from './record-batch.ts';
import type { RecordBatch } from './record-batch.ts';

/** Type of the marker that ends an aborted transaction: a control record's key is its version and its type, 16 bits each. */
const ABORT = 0;

/**
 * Which batches of a partition's part of a fetch response belong to aborted transactions. kafkajs has this, too, but expects the list
 * in order of first offsets and takes one transaction of it per record: where transactions overlap, it hands on aborted records and
 * drops committed ones.
 */
export class AbortedTransactions {
  /** By first offset; the broker sends them by last offset. */
  readonly #upcoming: FetchedPartition<unknown>['abortedTransactions'][number][];
  readonly #producers = new Set<string>();

  constructor(transactions: FetchedPartition<unknown>['abortedTransactions']) {
    this.#upcoming = [...transactions].sort((one, other) => Number(one.firstOffset) - Number(other.firstOffset));
  }

  /** To be called for each batch, in order, also for those that are not read. */
  has(batch: RecordBatch): boolean {
    const { producerId, inTransaction } = batch.context;
    while (this.#upcoming[0] && Number(this.#upcoming[0].firstOffset) <= batch.lastOffset) {
      this.#producers.add(this.#upcoming.shift()!.producerId);
    }
    if (!inTransaction || !this.#producers.has(producerId)) return false;
    if (!batch.isControl) return true;
    if (isAbortMarker(batch)) this.#producers.delete(producerId);
    return false;
  }
}

function isAbortMarker(batch: RecordBatch): boolean {
  try {
    const [record] = batch.records(batch.data, { from: batch.baseOffset, count: 1 });
    return record?.key?.length === 4 && record.key.readInt16BE(2) === ABORT;
  } catch (error) {
    if (error instanceof CorruptBatchError) return false;
    throw error;
  }
}
