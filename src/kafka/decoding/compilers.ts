import { compileAvro } from './avro/avro.ts';
import { compileJsonSchema } from './json-schema.ts';
import { compileProtobuf } from './protobuf/protobuf.ts';
import type { Compilers } from './topic-decoders.ts';

export const COMPILERS: Compilers = { AVRO: compileAvro, PROTOBUF: compileProtobuf, JSON: compileJsonSchema };
