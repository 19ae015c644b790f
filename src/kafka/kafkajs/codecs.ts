import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { CODEC_NAMES, CompressionError, inflate } from '../fetching/inflate.ts';
import type { CodecName, InflateLimits } from '../fetching/inflate.ts';

/** Codec interface of kafkajs. */
interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(data: Buffer): Promise<Buffer>;
}

type Transform = (data: Buffer) => Promise<Buffer>;

/**
 * Installs gzip, snappy, lz4 and zstd in kafkajs, for responses that crier does not decode itself (fetch-decoder.ts): those of brokers
 * before Kafka 0.11. kafkajs keeps its codecs in a global object: they apply to every client of the process, with the limits of the
 * last call.
 */
export function registerCodecs(limits: InflateLimits): void {
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const codecs = createCodecs(limits);
  CompressionCodecs[CompressionTypes.GZIP] = () => codecs.gzip;
  CompressionCodecs[CompressionTypes.Snappy] = () => codecs.snappy;
  CompressionCodecs[CompressionTypes.LZ4] = () => codecs.lz4;
  CompressionCodecs[CompressionTypes.ZSTD] = () => codecs.zstd;
}

export function createCodecs(limits: InflateLimits): Readonly<Record<CodecName, Codec>> {
  const codec = (name: CodecName, compress: Transform): Codec => ({
    compress: (encoder) => compress(encoder.buffer),
    decompress: (data) => inflate(CODEC_NAMES.indexOf(name), data, limits),
  });
  return {
    gzip: codec('gzip', promisify(zlib.gzip)),
    snappy: codec('snappy', (data) => snappy.compress(data)),
    lz4: codec('lz4', (data) => lz4.compressFrame(data)),
    zstd: codec('zstd', refuseToCompressZstd),
  };
}

function refuseToCompressZstd(): Promise<Buffer> {
  return Promise.reject(
    new CompressionError(
      'ERR_COMPRESS_UNSUPPORTED',
      'zstd: only inflating is supported; produce with gzip, snappy or lz4',
    ),
  );
}
