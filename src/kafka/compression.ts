import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { decompress as fzstdDecompress } from 'fzstd';
import kafkajs from 'kafkajs';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import {
  isXerial,
  lz4FrameInflatedBound,
  snappyInflatedSize,
  xerialBlocks,
  zstdFrameInflatedBound,
} from './inflated-size.ts';
import { salvaging } from './undecodable-batch.ts';
import type { Codec } from './undecodable-batch.ts';

export interface CompressionLimits {
  /** Of one batch, however many records it holds. */
  readonly maxInflatedBytes: number;
}

type CodecName = 'gzip' | 'snappy' | 'lz4' | 'zstd';

/**
 * A batch that cannot be inflated, or must not be. It is never a SyntaxError, TypeError, RangeError or ReferenceError: at those
 * kafkajs ends the consumer for good, without asking `restartOnFailure`.
 */
export class CompressionError extends Error {
  override readonly name = 'CompressionError';
  readonly code: 'ERR_BATCH_TOO_LARGE' | 'ERR_BATCH_CORRUPT' | 'ERR_COMPRESS_UNSUPPORTED';

  constructor(code: CompressionError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Installs gzip, snappy, lz4 and zstd. kafkajs keeps its codecs in one object of its own, so they hold for every kafkajs
 * client of the process, and the limits of the last call count.
 *
 * A batch that cannot be inflated comes out as poison records (`salvaging`). Inside, `decompress` rejects with a CompressionError: ERR_BATCH_TOO_LARGE for a batch that would become larger than the limit, before it
 * does; ERR_BATCH_CORRUPT for one that is not of its format. It inflates off the event loop, save for zstd before Node 22.15.
 */
export function registerCodecs(limits: CompressionLimits): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const codecs = createCodecs(limits);
  CompressionCodecs[CompressionTypes.GZIP] = () => salvaging(codecs.gzip);
  CompressionCodecs[CompressionTypes.Snappy] = () => salvaging(codecs.snappy);
  CompressionCodecs[CompressionTypes.LZ4] = () => salvaging(codecs.lz4);
  CompressionCodecs[CompressionTypes.ZSTD] = () => salvaging(codecs.zstd);
}

export function createCodecs(limits: CompressionLimits): Readonly<Record<CodecName, Codec>> {
  const codec = (name: CodecName, compress: Transform, inflate: Inflate): Codec => ({
    compress: (encoder) => compress(encoder.buffer),
    decompress: async (data) => {
      try {
        return await inflate(data, limits.maxInflatedBytes);
      } catch (error) {
        throw verdict(name, limits, error);
      }
    },
  });
  return {
    gzip: codec('gzip', promisify(zlib.gzip), inflateGzip),
    snappy: codec('snappy', (data) => snappy.compress(data), inflateSnappy),
    lz4: codec('lz4', (data) => lz4.compressFrame(data), inflateLz4),
    zstd: codec('zstd', refuseToCompressZstd, inflateZstd),
  };
}

type Transform = (data: Buffer) => Promise<Buffer>;
type Inflate = (data: Buffer, maxBytes: number) => Promise<Buffer>;
/** Since Node 22.15. */
type ZstdDecompress = (
  data: Buffer,
  options: { maxOutputLength: number },
  callback: (error: Error | null, inflated: Buffer) => void,
) => void;

const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip);
const { zstdDecompress } = zlib as typeof zlib & { readonly zstdDecompress?: ZstdDecompress };

/** Thrown by an inflater; the codec around it says which batch was refused and why. */
class TooLarge extends Error {}

function inflateGzip(data: Buffer, maxBytes: number): Promise<Buffer> {
  return gunzip(data, { maxOutputLength: maxBytes });
}

/** Raw snappy, as librdkafka writes it, or xerial blocks, as Java does. */
async function inflateSnappy(data: Buffer, maxBytes: number): Promise<Buffer> {
  const blocks = isXerial(data) ? xerialBlocks(data) : [data];
  let bytes = 0;
  for (const block of blocks) bytes += snappyInflatedSize(block);
  requireBound(bytes, maxBytes);
  const inflated: Buffer[] = [];
  for (const block of blocks) inflated.push((await snappy.uncompress(block)) as Buffer);
  return inflated.length === 1 ? inflated[0]! : Buffer.concat(inflated);
}

async function inflateLz4(data: Buffer, maxBytes: number): Promise<Buffer> {
  requireBound(lz4FrameInflatedBound(data), maxBytes);
  return lz4.decompressFrame(data);
}

async function inflateZstd(data: Buffer, maxBytes: number): Promise<Buffer> {
  if (zstdDecompress) {
    return promisify<Buffer, { maxOutputLength: number }, Buffer>(zstdDecompress)(data, { maxOutputLength: maxBytes });
  }
  requireBound(zstdFrameInflatedBound(data), maxBytes);
  const inflated = fzstdDecompress(data);
  return Buffer.from(inflated.buffer, inflated.byteOffset, inflated.byteLength);
}

function refuseToCompressZstd(): Promise<Buffer> {
  return Promise.reject(
    new CompressionError(
      'ERR_COMPRESS_UNSUPPORTED',
      'zstd: only inflating is supported; produce with gzip, snappy or lz4',
    ),
  );
}

function requireBound(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new TooLarge(`up to ${bytes}`);
}

function verdict(name: CodecName, { maxInflatedBytes }: CompressionLimits, cause: unknown): CompressionError {
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
