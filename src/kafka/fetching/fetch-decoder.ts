import { AbortedTransactions } from './aborted-transactions.ts';
import type { PoisonReason } from '../batch.ts';
import { partitionKey } from '../partition-key.ts';
import { CompressionError, inflate } from '../kafkajs/compression.ts';
import { readFetchResponse } from './fetch-response.ts';
import type { FetchedPartition, FetchedTopic, FetchResponse } from './fetch-response.ts';
import { RECORD_OVERHEAD_BYTES } from './inflight-budget.ts';
import type { InflightBudget } from './inflight-budget.ts';
import { entriesOf } from './message-set.ts';
import type { MessageSetEntry } from './message-set.ts';
import { batchesOf, CorruptBatchError, isRecordBatch } from './record-batch.ts';
import type { FetchedRecord, RecordBatch, RecordRange } from './record-batch.ts';

/** Decoded of a batch at least, if nothing else is in flight: a batch always makes progress. */
const MIN_RECORDS = 1000;
/** Placeholders of a batch that cannot be decoded. */
const MAX_PLACEHOLDERS = 10_000;
/** Longest wait of a response for room; then it is dropped and fetched again. */
const MAX_WAIT_MS = 5000;

export interface FetchDecoderOptions {
  readonly budget: InflightBudget;
  /** Of one batch: a larger one is poison. No larger than the budget. */
  readonly maxInflatedBytes: number;
}

/** What a fetch asked for. */
export interface FetchRequest {
  /** Of the broker. */
  readonly node: string;
  /** Of the next record, by `partitionKey`. */
  readonly offsets: ReadonlyMap<string, number>;
}

type Decoded = readonly FetchedRecord[];

/**
 * Decodes fetch responses within a budget. kafkajs decodes a whole response at once, however large its batches inflate, ends the
 * consumer at a batch of more than about 123,000 records, and at one that cannot
 * be inflated. Here a response, and a batch, are decoded in parts: what there is no room for is left out, and kafkajs fetches it
 * again, as the next offset says. A batch that cannot be decoded comes out as records with a reason, which are poison.
 */
export class FetchDecoder {
  readonly #options: FetchDecoderOptions;

  constructor(options: FetchDecoderOptions) {
    this.#options = options;
  }

  /** `version`: of the fetch protocol, 4 to 11. */
  decode(payload: Buffer, version: number, request: FetchRequest): Promise<FetchResponse<Decoded>> {
    return this.#options.budget.inTurn(() => this.#decode(readFetchResponse(payload, version), request));
  }

  async #decode(response: FetchResponse<Buffer>, request: FetchRequest): Promise<FetchResponse<Decoded>> {
    let hasRoom = true;
    const responses: FetchedTopic<Decoded>[] = [];
    for (const { topicName, partitions } of response.responses) {
      const decoded: FetchedPartition<Decoded>[] = [];
      for (const partition of partitions) {
        let messages: Decoded = [];
        if (hasRoom && partition.messages.length > 0) {
          const key = partitionKey(topicName, partition.partition);
          [messages, hasRoom] = await this.#records(partition, key, request);
        }
        // Their records are left out here.
        decoded.push({ ...partition, abortedTransactions: [], messages });
      }
      responses.push({ topicName, partitions: decoded });
    }
    return { ...response, responses };
  }

  /** Records of a partition, and whether there was room for all of them. */
  async #records(
    { messages: bytes, abortedTransactions }: FetchedPartition<Buffer>,
    key: string,
    request: FetchRequest,
  ): Promise<[Decoded, hasRoom: boolean]> {
    const { node, offsets } = request;
    if (!isRecordBatch(bytes)) return this.#messageSet(bytes, key, request);
    const { budget } = this.#options;
    const records: FetchedRecord[] = [];
    const aborted = new AbortedTransactions(abortedTransactions);
    let from = offsets.get(key) ?? 0;
    for (const batch of batchesOf(bytes)) {
      const isAborted = aborted.has(batch);
      if (batch.lastOffset < from) continue;
      if (isAborted) {
        records.push(batch.end());
        from = batch.lastOffset + 1;
        continue;
      }
      const part = await this.#part(batch, from, node);
      if (!part) return [records, false];
      budget.take(node, key, part.bytes);
      // Not as arguments of one call: there may be more than the stack holds.
      for (const record of part.records) records.push(record);
      if (!part.isWhole) return [records, false];
      from = batch.lastOffset + 1;
    }
    return [records, true];
  }

  /** Records of the format before Kafka 0.11: of a response at least one entry, or a part of one, then as many as there is room for. */
  async #messageSet(bytes: Buffer, key: string, { node, offsets }: FetchRequest): Promise<[Decoded, hasRoom: boolean]> {
    const { budget } = this.#options;
    const from = offsets.get(key) ?? 0;
    const records: FetchedRecord[] = [];
    for (const entry of entriesOf(bytes)) {
      if (entry.offset < from) continue;
      if (budget.room <= 0 && budget.has(node)) return [records, false];
      const count = Math.max(MIN_RECORDS, Math.floor(budget.room / RECORD_OVERHEAD_BYTES));
      const decoded = await this.#entryRecords(entry, { from, count });
      let taken = 0;
      for (const record of decoded) {
        records.push(record);
        taken += (record.key?.length ?? 0) + (record.value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
      }
      budget.take(node, key, taken);
      // There may be more: the next fetch begins with it.
      if (decoded.length === count) return [records, false];
    }
    return [records, true];
  }

  async #entryRecords(entry: MessageSetEntry, range: RecordRange): Promise<Decoded> {
    const { maxInflatedBytes } = this.#options;
    try {
      if (entry.compression === 0) return [entry.record()];
      const data = await inflate(entry.compression, entry.value ?? Buffer.alloc(0), { maxInflatedBytes });
      return entry.records(data, range);
    } catch (error) {
      if (error instanceof CorruptBatchError) return [entry.placeholder('batch_corrupt')];
      if (!(error instanceof CompressionError)) throw error;
      return [entry.placeholder(error.code === 'ERR_BATCH_TOO_LARGE' ? 'batch_too_large' : 'batch_corrupt')];
    }
  }

  /** As many records of a batch as there is room for; undefined: none. The first batch of a response waits for room. */
  async #part(batch: RecordBatch, from: number, node: string): Promise<Part | undefined> {
    const { budget } = this.#options;
    for (const deadline = performance.now() + MAX_WAIT_MS; ;) {
      const part = await this.#partNow(batch, from);
      if (part || budget.has(node) || !(await budget.released(deadline - performance.now()))) return part;
    }
  }

  async #partNow(batch: RecordBatch, from: number): Promise<Part | undefined> {
    const { budget } = this.#options;
    const data = await this.#inflated(batch);
    if (data === undefined) return undefined;
    if (typeof data === 'string') return placeholders(batch, data, from);
    const room = Math.floor((budget.room - data.length) / RECORD_OVERHEAD_BYTES);
    if (room < Math.min(MIN_RECORDS, batch.recordCount) && !budget.isIdle) return undefined;
    try {
      const count = Math.max(room, MIN_RECORDS);
      return partOf(batch, batch.records(data, { from, count }), count, data.length);
    } catch (error) {
      if (!(error instanceof CorruptBatchError)) throw error;
      return placeholders(batch, 'batch_corrupt', from);
    }
  }

  /** The bytes of a batch's records; why it is poison; undefined: there is no room for them. */
  async #inflated({ compression, data }: RecordBatch): Promise<Buffer | PoisonReason | undefined> {
    const { budget, maxInflatedBytes } = this.#options;
    if (compression === 0) return data;
    const limit = budget.isIdle ? maxInflatedBytes : Math.min(maxInflatedBytes, Math.max(0, budget.room));
    try {
      return await inflate(compression, data, { maxInflatedBytes: limit });
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error;
      if (error.code === 'ERR_BATCH_CORRUPT') return 'batch_corrupt';
      return limit < maxInflatedBytes ? undefined : 'batch_too_large';
    }
  }
}

interface Part {
  readonly records: Decoded;
  /** What they take in memory. */
  readonly bytes: number;
  /** With these records the batch is done. */
  readonly isWhole: boolean;
}

function partOf(batch: RecordBatch, records: FetchedRecord[], count: number, dataBytes: number): Part {
  const last = records.at(-1);
  const isWhole = records.length < count || last?.offset === `${batch.lastOffset}`;
  if (isWhole && last?.offset !== `${batch.lastOffset}`) records.push(batch.end());
  return { records, bytes: dataBytes + records.length * RECORD_OVERHEAD_BYTES, isWhole };
}

function placeholders(batch: RecordBatch, reason: PoisonReason, from: number): Part {
  return partOf(batch, batch.placeholders(reason, { from, count: MAX_PLACEHOLDERS }), MAX_PLACEHOLDERS, 0);
}
