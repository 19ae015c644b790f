import { setTimeout as delay } from 'node:timers/promises';
import { AbortedTransactions } from './aborted-transactions.ts';
import type { PoisonReason } from '../../batch.ts';
import { partitionKey } from '../../partition-key.ts';
import { CompressionError, inflate } from './inflate.ts';
import { readFetchResponse } from './fetch-response.ts';
import type { FetchedPartition, FetchResponse } from './fetch-response.ts';
import { RECORD_OVERHEAD_BYTES } from './inflight-budget.ts';
import type { InflightBudget } from './inflight-budget.ts';
import { oldRecords } from './old-records.ts';
import { batchesOf, CorruptBatchError, isRecordBatch } from './record-batch.ts';
import type { FetchedRecord, RecordBatch, RecordPlace } from './record-batch.ts';

/** Records that are decoded at least, if no others are in flight: a batch always makes progress. */
const MIN_RECORDS = 1000;
/** Placeholder records per part of a batch that cannot be decoded. */
const MAX_PLACEHOLDERS = 10_000;
/** Longest wait of a response for room in the budget. Then it is dropped and fetched again. */
const MAX_WAIT_MS = 5000;
/** Wait of a response without room beside a batch that has begun. */
const BESIDE_BEGUN_MS = 50;

export interface FetchDecoderOptions {
  readonly budget: InflightBudget;
  /** Bound of one batch; a larger batch is poison. At most the budget. */
  readonly maxInflatedBytes: number;
}

/** Request that a response answers. */
export interface FetchRequest {
  /** Node id of the broker. */
  readonly node: string;
  /** Requested offset of each partition, by `partitionKey`. */
  readonly offsets: ReadonlyMap<string, number>;
}

type Decoded = readonly FetchedRecord[];

/**
 * Decodes fetch responses within a budget. kafkajs decodes a whole response at once, however large its batches inflate, and a batch of
 * more than about 123,000 records, or one that cannot be inflated, ends its consumer. This decoder decodes responses and batches in
 * parts: it omits records without room in the budget, and kafkajs fetches them again. A batch that cannot be decoded becomes
 * placeholder records with a reason, which are poison.
 */
export class FetchDecoder {
  readonly #options: FetchDecoderOptions;
  #begun: BegunBatch | undefined;

  constructor(options: FetchDecoderOptions) {
    this.#options = options;
  }

  /** `version`: version of the fetch request, 4 to 11. */
  async decode(payload: Buffer, version: number, request: FetchRequest): Promise<FetchResponse<Decoded>> {
    const response = readFetchResponse(payload, version);
    const messages = await this.#options.budget.runInOrder(() => this.#decode(response, request));
    const hasRecords = response.responses.some(({ partitions }) => partitions.some((one) => one.messages.length > 0));
    // Not in its turn: the batch that has begun may be in the response of another broker.
    if (hasRecords && messages.size === 0 && this.#begun) await delay(BESIDE_BEGUN_MS);
    const responses = response.responses.map(({ topicName, partitions }) => ({
      topicName,
      partitions: partitions.map((partition) => ({
        ...partition,
        // Aborted records are already omitted.
        abortedTransactions: [],
        messages: messages.get(partitionKey(topicName, partition.partition)) ?? [],
      })),
    }));
    return { ...response, responses };
  }

  /** Records by partition, of those that have any and for which there was room. */
  async #decode({ responses }: FetchResponse<Buffer>, request: FetchRequest): Promise<Map<string, Decoded>> {
    const fetched = new Map<string, FetchedPartition<Buffer>>();
    for (const { topicName, partitions } of responses) {
      for (const partition of partitions) {
        if (partition.messages.length > 0) fetched.set(partitionKey(topicName, partition.partition), partition);
      }
    }
    const first = this.#begun?.key;
    const keys = [...fetched.keys()].sort((one, other) => Number(other === first) - Number(one === first));
    const decoded = new Map<string, Decoded>();
    for (const key of keys) {
      const [records, hasRoom] = await this.#records(fetched.get(key)!, key, request);
      if (records.length > 0) decoded.set(key, records);
      if (!hasRoom) break;
    }
    return decoded;
  }

  /** Records of a partition, and whether the budget had room for all of them. */
  async #records(
    { messages: bytes, abortedTransactions }: FetchedPartition<Buffer>,
    key: string,
    request: FetchRequest,
  ): Promise<[Decoded, hasRoom: boolean]> {
    const { node, offsets } = request;
    const { budget } = this.#options;
    if (!isRecordBatch(bytes)) {
      const old = oldRecords(bytes, { from: offsets.get(key) ?? 0, count: MAX_PLACEHOLDERS });
      budget.reserve(node, key, old.length * RECORD_OVERHEAD_BYTES);
      return [old, true];
    }
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
      const part = await this.#part(batch, from, node, key);
      if (!part) return [records, false];
      budget.reserve(node, key, part.bytes);
      // Not `push(...records)`: the arguments could overflow the stack.
      for (const record of part.records) records.push(record);
      if (!part.isWhole) return [records, false];
      from = batch.lastOffset + 1;
    }
    return [records, true];
  }

  /** As many records of a batch as the budget has room for; undefined: none. The first batch of a response waits for room. */
  async #part(batch: RecordBatch, from: number, node: string, key: string): Promise<Part | undefined> {
    const { budget } = this.#options;
    this.#dropOther(key, batch.data);
    for (const deadline = performance.now() + MAX_WAIT_MS; ;) {
      // The room is looked at, and then the batch is inflated: room that comes meanwhile must not be waited for.
      const { releases } = budget;
      const part = await this.#partNow(batch, from, key);
      // The batch that has begun continues in a later turn, so this one must end.
      const isBehind = this.#begun !== undefined && this.#begun.key !== key;
      if (part || isBehind || budget.has(node)) return part;
      if (!(await budget.released(deadline - performance.now(), releases))) return undefined;
    }
  }

  async #partNow(batch: RecordBatch, from: number, key: string): Promise<Part | undefined> {
    const { budget } = this.#options;
    const begun = this.#begunWith(batch.data);
    const data = begun?.data ?? (await this.#inflated(batch));
    if (data === undefined) return undefined;
    if (typeof data === 'string') return placeholders(batch, data, from);
    const room = Math.floor((this.#roomBeside(begun) - data.length) / RECORD_OVERHEAD_BYTES);
    if (room < Math.min(MIN_RECORDS, batch.recordCount) && !budget.isIdle) return undefined;
    try {
      const count = Math.max(room, MIN_RECORDS);
      const { records, next } = batch.records(data, { from, count }, begun?.placeIn(batch, from));
      const part = partOf(batch, records, count, data.length);
      if (begun && part.isWhole) this.#begun = undefined;
      else if (!part.isWhole && batch.compression !== 0) {
        const position = { baseOffset: batch.baseOffset, from: records.at(-1)!.offset + 1, place: next };
        this.#begun = new BegunBatch(key, begun?.compressed ?? batch.data, data, position);
      }
      return part;
    } catch (error) {
      if (!(error instanceof CorruptBatchError)) throw error;
      if (begun) this.#begun = undefined;
      return placeholders(batch, 'batch_corrupt', from);
    }
  }

  /** Drops the begun batch of this partition if its records continue with another batch: the begun one was corrupt, skipped or rewritten. */
  #dropOther(key: string, compressed: Buffer): void {
    if (this.#begun?.key === key && !this.#begunWith(compressed)) this.#begun = undefined;
  }

  /** The batch of these bytes, if a part of it has been decoded. */
  #begunWith(compressed: Buffer): BegunBatch | undefined {
    return this.#begun?.compressed.equals(compressed) ? this.#begun : undefined;
  }

  /** Free bytes for a batch. The begun batch of another partition counts, until nobody has fetched it for `MAX_WAIT_MS`. */
  #roomBeside(begun: BegunBatch | undefined): number {
    const { room } = this.#options.budget;
    if (!this.#begun || begun) return room;
    if (performance.now() - this.#begun.usedAt > MAX_WAIT_MS) this.#begun = undefined;
    return room - (this.#begun?.data.length ?? 0);
  }

  /** Returns the inflated bytes of a batch, or the reason why it is poison; undefined: the budget has no room. */
  async #inflated({ compression, data }: RecordBatch): Promise<Buffer | PoisonReason | undefined> {
    const { budget, maxInflatedBytes } = this.#options;
    if (compression === 0) return data;
    const room = this.#roomBeside(undefined);
    const limit = budget.isIdle && !this.#begun ? maxInflatedBytes : Math.min(maxInflatedBytes, Math.max(0, room));
    // Inflaters take a limit of 0 for a mistake, not for data that is too large.
    if (limit === 0) return undefined;
    try {
      return await inflate(compression, data, { maxInflatedBytes: limit });
    } catch (error) {
      if (!(error instanceof CompressionError)) throw error;
      if (error.code === 'ERR_BATCH_CORRUPT') return 'batch_corrupt';
      return limit < maxInflatedBytes ? undefined : 'batch_too_large';
    }
  }
}

/**
 * A compressed batch of which a part has been decoded. Its inflated bytes are kept for its other parts: inflating again for each would take
 * work in proportion to its size times its number of records.
 */
class BegunBatch {
  /** Of its partition. */
  readonly key: string;
  readonly compressed: Buffer;
  readonly data: Buffer;
  readonly usedAt = performance.now();
  readonly #position: BegunPosition | undefined;

  constructor(key: string, compressed: Buffer, data: Buffer, position?: BegunPosition) {
    this.key = key;
    this.compressed = compressed;
    this.data = data;
    this.#position = position;
  }

  /** The place of the record at an offset; undefined: not known. */
  placeIn({ baseOffset }: RecordBatch, from: number): RecordPlace | undefined {
    const position = this.#position;
    return position?.baseOffset === baseOffset && position.from === from ? position.place : undefined;
  }
}

interface BegunPosition {
  readonly baseOffset: number;
  /** Offset of the first record that has not been decoded, which is at `place`. */
  readonly from: number;
  readonly place: RecordPlace;
}

interface Part {
  readonly records: Decoded;
  /** Memory of the records. */
  readonly bytes: number;
  /** True if these are the batch's last records. */
  readonly isWhole: boolean;
}

function partOf(batch: RecordBatch, records: FetchedRecord[], count: number, dataBytes: number): Part {
  const last = records.at(-1);
  const isWhole = records.length < count || last?.offset === batch.lastOffset;
  if (isWhole && last?.offset !== batch.lastOffset) records.push(batch.end());
  return { records, bytes: dataBytes + records.length * RECORD_OVERHEAD_BYTES, isWhole };
}

function placeholders(batch: RecordBatch, reason: PoisonReason, from: number): Part {
  return partOf(batch, batch.placeholders(reason, { from, count: MAX_PLACEHOLDERS }), MAX_PLACEHOLDERS, 0);
}
