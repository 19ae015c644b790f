import type { CompileSchema } from '../decoder.ts';
import { UndecodableError } from '../decoder.ts';
import { RecordBytes } from '../record-bytes.ts';
import { SchemaPlace } from '../schema-place.ts';
import { avroFields } from './avro-fields.ts';
import { AvroReaders } from './avro-readers.ts';
import { parseAvroSchema } from './avro-schema.ts';

/**
 * avsc reads the schema, crier the bytes: avsc's own decoder believes the count of a block, so that six bytes make it loop for hours,
 * throws on integers beyond 2^53, and would need a second pass to rename and print its values.
 */
export const compileAvro: CompileSchema = (text, references, options) => {
  const schema = parseAvroSchema(text, references);
  const place = SchemaPlace.root(options);
  const read = new AvroReaders().of(schema, place);
  const input = new RecordBytes(options, 'not_avro');
  const decodeKey = (bytes: Buffer) => {
    input.load(bytes);
    try {
      const value = read(input, options.limits.maxDepth);
      if (input.at !== input.end) input.fail();
      return value;
    } finally {
      input.unload();
    }
  };
  return {
    fields: avroFields(schema, place) ?? { keys: [], at: () => undefined },
    decode(bytes) {
      const value = decodeKey(bytes);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new UndecodableError('not_object');
      }
      return value as Record<string, unknown>;
    },
    decodeKey,
  };
};
