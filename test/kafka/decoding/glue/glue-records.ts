import { readFileSync } from 'node:fs';

/** A record of AWS Glue's own serializers. */
export interface GlueRecord {
  /** Of its schema, or of its message of Protobuf. */
  readonly name: string;
  readonly format: 'AVRO' | 'JSON' | 'PROTOBUF';
  readonly schema: string;
  /** The id of the schema version. */
  readonly version: string;
  readonly raw: Buffer;
  readonly zlib: Buffer;
}

type Recorded = Pick<GlueRecord, 'name' | 'format' | 'schema' | 'version'> & Record<'none' | 'zlib', string>;

/** Written by GlueRecords.java, with schema-registry-serde 1.1.27. */
export const GLUE_RECORDS: readonly GlueRecord[] = (
  JSON.parse(readFileSync('test/kafka/decoding/glue/fixtures/records.json', 'utf8')) as Recorded[]
).map(({ none, zlib, ...record }) => ({ ...record, raw: Buffer.from(none, 'hex'), zlib: Buffer.from(zlib, 'hex') }));
