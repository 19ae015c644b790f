import type { Compilers } from './topic-decoders.ts';

/** Each loads its packages at its first schema: a worker loads those of its topics alone. */
export const COMPILERS: Compilers = {
  AVRO: async () => (await import('./avro/avro.ts')).compileAvro,
  PROTOBUF: async () => (await import('./protobuf/protobuf.ts')).compileProtobuf,
  JSON: async () => (await import('./json-schema.ts')).compileJsonSchema,
};
