/**
 * Upper bounds of the inflated size of compressed data, read from its headers before anything is inflated or allocated.
 * Each function throws an Error with the reason if the data is truncated or not of the format.
 */

const XERIAL_HEADER_BYTES = 16;
/** Of the varint of a size. */
const MAX_SIZE_BYTES = 5;
const MAX_SIZE = 2 ** 32 - 1;
const XERIAL_MAGIC = Buffer.from('\x82SNAPPY\0', 'latin1');

/** True for snappy-java's framing, which Java producers write: a header, then length-prefixed blocks of raw snappy. */
export function isXerial(data: Buffer): boolean {
  return data.length >= XERIAL_HEADER_BYTES && data.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC);
}

/**
 * Joins the raw snappy blocks of xerial framing to one, so that the work does not grow with their number: each may be empty. An element
 * copies from earlier output of its block only, so the elements of one block may follow those of another.
 */
export function joinXerialBlocks(data: Buffer): Buffer {
  const joined = Buffer.allocUnsafe(MAX_SIZE_BYTES + data.length);
  let inflatedBytes = 0;
  let end = MAX_SIZE_BYTES;
  let at = XERIAL_HEADER_BYTES;
  while (at + 4 <= data.length) {
    const start = at + 4;
    const next = start + data.readUInt32BE(at);
    if (next > data.length) break;
    const size = sizeAt(data, start, next);
    inflatedBytes += size.value;
    end += data.copy(joined, end, size.end, next);
    at = next;
  }
  if (at !== data.length) throw new Error('a block is cut off');
  // More than 32 bits are more than any limit.
  const size = printedSize(Math.min(inflatedBytes, MAX_SIZE));
  const start = MAX_SIZE_BYTES - size.length;
  joined.set(size, start);
  return joined.subarray(start, end);
}

/** The exact size: raw snappy starts with it, as a varint of at most 32 bits. */
export function snappyInflatedSize(block: Buffer): number {
  return sizeAt(block, 0, block.length).value;
}

function sizeAt(data: Buffer, start: number, limit: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let i = 0; i < MAX_SIZE_BYTES && start + i < limit; i++) {
    const byte = data[start + i]!;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  throw new Error('it does not start with a size');
}

function printedSize(size: number): number[] {
  const bytes: number[] = [];
  for (; size > 0x7f; size = Math.floor(size / 0x80)) bytes.push((size % 0x80) | 0x80);
  return [...bytes, size];
}

const LZ4_MAGIC = 0x184d2204;
/** Maximum compression ratio of LZ4. */
const LZ4_MAX_RATIO = 255;

/** An upper bound: counts every compressed block with the largest block size of the frame. https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */
export function lz4FrameInflatedBound(frame: Buffer): number {
  if (frame.length < 11 || frame.readUInt32LE(0) !== LZ4_MAGIC) throw new Error('it is not an LZ4 frame');
  const flags = frame[4]!;
  const blockMaxBytes = 2 ** (8 + 2 * ((frame[5]! >> 4) & 7));
  const hasBlockChecksum = (flags & 0x10) !== 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  let bound = 0;
  while (at + 4 <= frame.length) {
    const header = frame.readUInt32LE(at);
    const bytes = header & 0x7fffffff;
    at += 4;
    if (bytes === 0) {
      requireEnd(frame, at + (flags & 0x04 ? 4 : 0));
      return bound;
    }
    bound += header >>> 31 ? bytes : Math.min(blockMaxBytes, bytes * LZ4_MAX_RATIO);
    at += bytes + (hasBlockChecksum ? 4 : 0);
  }
  throw new Error('the frame is cut off');
}

const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_BLOCK_MAX_BYTES = 128 * 1024;
/** Decoders need not support larger windows: https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.1.2 */
const ZSTD_WINDOW_MAX_BYTES = 8 * 1024 * 1024;

/**
 * An upper bound: counts every block with its maximum of 128 KiB. This also bounds the work of fzstd, which moves the whole window for
 * each block. Refuses windows over 8 MiB, and more than one frame: Kafka's producers write one.
 */
export function zstdFrameInflatedBound(frame: Buffer): number {
  const { contentSize } = zstdHeader(frame);
  let bound = 0;
  for (const { maxBytes } of zstdBlocks(frame)) bound += maxBytes;
  return Math.max(bound, contentSize);
}

/** The blocks of a zstd frame, in order. `end`: of its bytes in the frame; the last block has the frame's checksum, too. */
export function* zstdBlocks(frame: Buffer): Generator<{ readonly end: number; readonly maxBytes: number }, void, void> {
  const { end, checksumBytes } = zstdHeader(frame);
  let at = end;
  while (at + 3 <= frame.length) {
    const header = frame.readUIntLE(at, 3);
    const isRunLength = ((header >> 1) & 3) === 1;
    const isLast = (header & 1) === 1;
    at += 3 + (isRunLength ? 1 : header >> 3) + (isLast ? checksumBytes : 0);
    if (isLast) requireEnd(frame, at);
    yield { end: at, maxBytes: Math.max(ZSTD_BLOCK_MAX_BYTES, isRunLength ? header >> 3 : 0) };
    if (isLast) return;
  }
  throw new Error('the frame is cut off');
}

interface ZstdHeader {
  readonly end: number;
  /** 0: not declared. */
  readonly contentSize: number;
  readonly checksumBytes: number;
}

function zstdHeader(frame: Buffer): ZstdHeader {
  if (frame.length < 9 || frame.readUInt32LE(0) !== ZSTD_MAGIC) throw new Error('it is not a zstd frame');
  const descriptor = frame[4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const contentSizeAt = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const end = contentSizeAt + contentSizeBytes;
  if (end > frame.length) throw new Error('the frame is cut off');
  const contentSize = zstdContentSize(frame, contentSizeAt, contentSizeBytes);
  // The window of a single segment is its content.
  const windowBytes = isSingleSegment ? contentSize : zstdWindowBytes(frame[5]!);
  if (windowBytes > ZSTD_WINDOW_MAX_BYTES) {
    throw new Error('its window is over 8 MiB: lower the compression level, or run Node 24 or later');
  }
  return { end, contentSize, checksumBytes: descriptor & 0x04 ? 4 : 0 };
}

function requireEnd(frame: Buffer, end: number): void {
  if (end > frame.length) throw new Error('the frame is cut off');
  if (end < frame.length) throw new Error('more than one frame');
}

function zstdWindowBytes(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

/** Content size that the frame declares, which a decoder may allocate at once; 0: not declared. */
function zstdContentSize(frame: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return Number(frame.readBigUInt64LE(at));
  if (bytes === 0) return 0;
  return frame.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}
