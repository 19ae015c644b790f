import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import descriptor from 'protobufjs/ext/descriptor.js';
import type { IFileDescriptorSet } from 'protobufjs/ext/descriptor.js';
import { createRouters } from '../../../../src/graph/router.ts';
import type { Conversion } from '../../../../src/kafka/batch.ts';
import { compileAvro } from '../../../../src/kafka/decoding/avro/avro.ts';
import { Converter } from '../../../../src/kafka/decoding/converter.ts';
import { compileProtobuf } from '../../../../src/kafka/decoding/protobuf/protobuf.ts';
import { SnakeCase } from '../../../../src/kafka/decoding/snake-case.ts';
import { installJars } from '../../../../stack/jars.ts';
import { decoderOptions, keep } from '../schema-decoders.ts';

const FOLDER = join('test', 'kafka', 'decoding', 'foreign');
const JARS = join('.stack', 'foreign', 'libs');
const RECORDS = 10_000;
const SEED = String(Date.now());
const HEADER_BYTES = 5;
const LIMITS = { maxBytes: 1_000_000, maxDepth: 64 };

/** The first difference. Protobuf's JSON has integers of 64 bits as strings, crier only those that a double cannot hold. */
function difference(ours: unknown, theirs: unknown, path = ''): string | undefined {
  if (typeof ours === 'object' && ours !== null && typeof theirs === 'object' && theirs !== null) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    for (const key of keys) {
      const found = difference(ours[key as never], theirs[key as never], `${path}.${key}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const isEqual = Object.is(ours, theirs) || (typeof ours === 'number' && (String(ours) === theirs || ours === theirs));
  return isEqual ? undefined : `${path}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`;
}

describe('records of the libraries of Java', () => {
  let folder: string;

  before(async () => {
    await installJars(FOLDER, JARS);
    folder = await mkdtemp(join(tmpdir(), 'crier-foreign-'));
    const program = join(FOLDER, 'ForeignRecords.java');
    const flags = ['-Xmx256m', '-Dfile.encoding=UTF-8', '-cp', `${JARS}/*`];
    await promisify(execFile)('java', [...flags, program, FOLDER, folder, SEED, String(RECORDS)]);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** The bytes of each record, and its JSON. */
  async function recordsOf(format: string): Promise<{ readonly bytes: Buffer; readonly json: string }[]> {
    const bytes = await readFile(join(folder, `${format}.records`));
    const lines = (await readFile(join(folder, `${format}.jsonl`), 'utf8')).trimEnd().split('\n');
    let at = 0;
    return lines.map((json) => {
      const start = at + 4;
      at = start + bytes.readUInt32BE(at);
      return { bytes: bytes.subarray(start, at), json };
    });
  }

  it('are the same payloads from Avro as from JSON', async () => {
    const all = { field: 'f', topics: ['orders'], match: [], where: [], payload: [], isShared: true };
    const converter = new Converter(createRouters([all], ''), LIMITS, new SnakeCase());
    const decoder = compileAvro(await readFile(join(FOLDER, 'order.avsc'), 'utf8'), [], {
      ...decoderOptions(),
      limits: LIMITS,
    });
    const records = await recordsOf('avro');
    assert.equal(records.length, RECORDS);
    for (const { bytes, json } of records) {
      const { payload } = converter.convert({ topic: 'orders', key: null, value: Buffer.from(json) }) as Conversion;
      // JSON does not tell a double of 17 digits from an integer, which keeps them.
      const expected = String(payload).replace(/"amount":"(-?\d+)"/g, (_, digits) => `"amount":${Number(digits)}`);
      assert.equal(JSON.stringify(decoder.decode(bytes.subarray(HEADER_BYTES))), expected, `seed ${SEED}`);
    }
  });

  const compileProto = (schema: string) =>
    compileProtobuf(schema, [], { ...decoderOptions({ nameOf: keep }), limits: LIMITS });

  it('are the same payloads from Protobuf as from its JSON', async () => {
    const decoder = compileProto(await readFile(join(FOLDER, 'order.proto'), 'utf8'));
    const records = await recordsOf('protobuf');
    assert.equal(records.length, RECORDS);
    for (const { bytes, json } of records) {
      const payload: unknown = JSON.parse(JSON.stringify(decoder.decode(bytes.subarray(HEADER_BYTES))));
      assert.equal(difference(payload, JSON.parse(json)), undefined, `seed ${SEED}: ${json}`);
    }
  });

  it('are the same payloads from Protobuf by the descriptor of protoc as by the text', async () => {
    const { file } = descriptor.FileDescriptorSet.decode(
      await readFile(join(FOLDER, 'order.desc')),
    ) as unknown as IFileDescriptorSet;
    const bytes = descriptor.FileDescriptorProto.encode(file.at(-1)!).finish();
    const byDescriptor = compileProto(Buffer.from(bytes).toString('base64'));
    const byText = compileProto(await readFile(join(FOLDER, 'order.proto'), 'utf8'));
    for (const record of await recordsOf('protobuf')) {
      const body = record.bytes.subarray(HEADER_BYTES);
      assert.equal(JSON.stringify(byDescriptor.decode(body)), JSON.stringify(byText.decode(body)), `seed ${SEED}`);
    }
  });
});
