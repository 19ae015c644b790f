import { promisify } from 'node:util';
import { setImmediate as nextTurn } from 'node:timers/promises';
import zlib from 'node:zlib';
import { Decompress as ZstdStream, decompress as fzstdDecompress } from 'fzstd';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import {
  isXerial,
  joinXerialBlocks,
  lz4FrameInflatedBound,
  snappyInflatedSize,
  zstdBlocks,
  zstdFrameInflatedBound,
} from './inflated-size.ts';

export interface InflateLimits {
  /** Bound of one batch, independent of its number of records. */
  readonly maxInflatedBytes: number;
}

type CodecName = 'gzip' | 'snappy' | 'lz4' | 'zstd';

/** Indexed by the codec number in the attributes of a record batch. */
const CODEC_NAMES: readonly (CodecName | undefined)[] = [undefined, 'gzip', 'snappy', 'lz4', 'zstd'];

/**
 * A batch that cannot be inflated, or exceeds the limit. Never a SyntaxError, TypeError, RangeError or ReferenceError: at these kafkajs
 * ends the consumer for good, without calling `restartOnFailure`.
 */
export class CompressionError extends Error {
  override readonly name = 'CompressionError';
  readonly code: 'ERR_BATCH_TOO_LARGE' | 'ERR_BATCH_CORRUPT';

  constructor(code: CompressionError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Inflates off the event loop, except zstd before Node 24: there 512 KiB in a turn. `compression`: the codec number in the attributes
 * of a record batch.
 * @throws CompressionError: ERR_BATCH_TOO_LARGE before data would inflate beyond the limit; ERR_BATCH_CORRUPT if the data is not of
 * its format.
 */
export async function inflate(compression: number, data: Buffer, { maxInflatedBytes }: InflateLimits): Promise<Buffer> {
  const name = CODEC_NAMES[compression];
  if (!name) throw new CompressionError('ERR_BATCH_CORRUPT', `there is no compression ${compression}`);
  try {
    return await INFLATERS[name](data, maxInflatedBytes);
  } catch (error) {
    throw compressionError(name, maxInflatedBytes, error);
  }
}

type Inflate = (data: Buffer, maxBytes: number) => Promise<Buffer>;
type ZstdDecompress = (
  data: Buffer,
  options: { maxOutputLength: number },
  callback: (error: Error | null, inflated: Buffer) => void,
) => void;

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
/** undefined before Node 24: that of Node 22 takes truncated data for whole. */
const zstdDecompress =
  Number.parseInt(process.versions.node, 10) < 24
    ? undefined
    : (zlib as typeof zlib & { readonly zstdDecompress?: ZstdDecompress }).zstdDecompress;

/** Inflated bytes after which fzstd leaves the event loop to others: about 3 ms. */
const ZSTD_TURN_BYTES = 512 * 1024;

/** Thrown by an inflater. `inflate` turns it into a CompressionError. */
class TooLarge extends Error {}

function inflateGzip(data: Buffer, maxBytes: number): Promise<Buffer> {
  return gunzip(data, { maxOutputLength: maxBytes });
}

/** Raw snappy, which librdkafka writes, or xerial blocks, which Java producers write. */
async function inflateSnappy(data: Buffer, maxBytes: number): Promise<Buffer> {
  const block = isXerial(data) ? joinXerialBlocks(data) : data;
  requireBound(snappyInflatedSize(block), maxBytes);
  return (await snappy.uncompress(block)) as Buffer;
}

async function inflateLz4(data: Buffer, maxBytes: number): Promise<Buffer> {
  requireBound(lz4FrameInflatedBound(data), maxBytes);
  return lz4.decompressFrame(data);
}

async function inflateZstd(data: Buffer, maxBytes: number): Promise<Buffer> {
  if (zstdDecompress) {
    return promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress)(data, { maxOutputLength: maxBytes });
  }
  const bound = zstdFrameInflatedBound(data);
  requireBound(bound, maxBytes);
  return bound <= ZSTD_TURN_BYTES ? bufferOf(fzstdDecompress(data)) : inflateInTurns(data);
}

async function inflateInTurns(data: Buffer): Promise<Buffer> {
  const inflated: Uint8Array[] = [];
  let turnBytes = 0;
  const stream = new ZstdStream((block) => inflated.push(block));
  let start = 0;
  for (const { end, maxBytes } of zstdBlocks(data)) {
    if (turnBytes >= ZSTD_TURN_BYTES) {
      await nextTurn();
      turnBytes = 0;
    }
    stream.push(data.subarray(start, end), end === data.length);
    // The decoder moves its window after each block, however little that gives.
    turnBytes += maxBytes;
    start = end;
  }
  return Buffer.concat(inflated);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

const INFLATERS: Readonly<Record<CodecName, Inflate>> = {
  gzip: inflateGzip,
  snappy: inflateSnappy,
  lz4: inflateLz4,
  zstd: inflateZstd,
};

function requireBound(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new TooLarge(`up to ${bytes}`);
}

function compressionError(name: CodecName, maxInflatedBytes: number, cause: unknown): CompressionError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof TooLarge || (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
    return new CompressionError(
      'ERR_BATCH_TOO_LARGE',
      `${name}: a batch of records inflates to more than ${maxInflatedBytes} bytes (${reason})`,
      { cause },
    );
  }
  return new CompressionError('ERR_BATCH_CORRUPT', `${name}: a batch of records cannot be inflated (${reason})`, {
    cause,
  });
}
