import type { FetchedPartition } from './fetch-response.ts';
import { CorruptBatchError } from './record-batch.ts';
import type { RecordBatch } from './record-batch.ts';

/** Type of the control record that ends an aborted transaction. The key of a control record is its version and type, 16 bits each. */
const ABORT = 0;

/**
 * Tells which batches of a partition in a fetch response belong to aborted transactions. kafkajs's own filter expects the list in the
 * order of first offsets and consumes one transaction per record: if transactions overlap, it returns aborted records and drops
 * committed ones.
 */
export class AbortedTransactions {
  /** Sorted by first offset. The broker sorts by last offset. */
  readonly #upcoming: FetchedPartition<unknown>['abortedTransactions'][number][];
  readonly #producers = new Set<string>();

  constructor(transactions: FetchedPartition<unknown>['abortedTransactions']) {
    this.#upcoming = [...transactions].sort((one, other) => Number(one.firstOffset) - Number(other.firstOffset));
  }

  /** True if the batch is aborted. Call it for every batch, in order, including skipped ones. */
  has(batch: RecordBatch): boolean {
    const { producerId, inTransaction } = batch;
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
    const [record] = batch.records(batch.data, { from: batch.baseOffset, count: 1 }).records;
    return record?.key?.length === 4 && record.key.readInt16BE(2) === ABORT;
  } catch (error) {
    if (error instanceof CorruptBatchError) return false;
    throw error;
  }
}
