/**
 * The cost of the payload's text of one auction record: parsed, renamed by the story's lodash chain and printed, against
 * src/kafka/decoding/converter.ts, in alternating rounds of one process. The same for renaming alone. The same record as Avro and as
 * Protobuf, against avsc and protobufjs, which do not rename. Exits with 1 below 20 times the throughput, 10 times that of renaming, or
 * below the throughput of the libraries by a fifth.
 *
 *     npm run -s build:test && node dist/loadtest/convert.js
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import avro from 'avsc';
import protobuf from 'protobufjs';
import { TopicRouter } from '../src/graph/router.ts';
import type { Conversion } from '../src/kafka/batch.ts';
import { snakeCaseName } from '../src/base/json/key-naming.ts';
import { compileAvro } from '../src/kafka/decoding/avro/avro.ts';
import { Converter } from '../src/kafka/decoding/converter.ts';
import type { PayloadPlace } from '../src/kafka/decoding/decoder.ts';
import { compileProtobuf } from '../src/kafka/decoding/protobuf/protobuf.ts';
import { decodeRecord } from '../src/kafka/decoding/record.ts';
import { SnakeCase } from '../src/kafka/decoding/snake-case.ts';
import { snakeCaseChain } from './ladder/pod/snake-case-chain.ts';
import { median } from './median.ts';
import { avroSchemaOf, protoSchemaOf } from './records/record-schemas.ts';

const LEAST_RATIO = 20;
const LEAST_RENAME_RATIO = 10;
const LEAST_LIBRARY_RATIO = 0.8;
const ROUNDS = 60;
/** Few enough that a round stays in the young generation, as records do. */
const RECORDS_PER_ROUND = 200;
const WARM_UP_ROUNDS = 10;

type Tree = Record<string, unknown>;

const json = JSON.stringify(JSON.parse(await readFile('loadtest/records/auction.json', 'utf8')));
const bytes = Buffer.from(json);
const snakeCase = new SnakeCase();
const limits = { maxBytes: 1_048_576, maxDepth: 64 };
const match = [{ arg: 'auction_id', path: 'auction.auction_id', isOptional: false }];
const router = new TopicRouter(
  'auctions',
  [{ field: 'f', topics: ['auctions'], match, where: [], payload: [], isShared: true }],
  '',
);
const converter = new Converter(new Map([['auctions', router]]), limits, snakeCase);

const tree = JSON.parse(json) as Tree;
const unread: PayloadPlace = { kinds: new Set(), at: () => unread };
const decoderOptions = { nameOf: snakeCaseName, shape: unread, limits, onOverflow: () => undefined };

const avroSchema = avroSchemaOf(tree);
const avroType = avro.Type.forSchema(avroSchema, { wrapUnions: 'never' });
const avroBytes = avroType.toBuffer(tree);
const avroDecoder = compileAvro(JSON.stringify(avroSchema), [], decoderOptions);

const protoSchema = protoSchemaOf(tree);
const protoType = protobuf.parse(protoSchema, { keepCase: true }).root.lookupType('Record');
const withoutNulls = (_: string, value: unknown) => (value === null ? undefined : value);
const protoBytes = protoType
  .encode(protoType.fromObject(JSON.parse(JSON.stringify(tree, withoutNulls)) as Tree))
  .finish();
const indexedProtoBytes = Buffer.concat([Buffer.of(0), protoBytes]);
const protoDecoder = compileProtobuf(protoSchema, [], decoderOptions);

const steps = {
  chainText: () => JSON.stringify(snakeCaseChain(JSON.parse(bytes.toString('utf8')) as Tree)),
  /** The path of a record that cannot be rewritten. */
  parsedText: () => {
    const { payload = {} } = decodeRecord(bytes, limits);
    return JSON.stringify(snakeCase.convertObjToSnakeKeys(payload));
  },
  /** Also determines the channel. */
  crierText: () => (converter.convert({ topic: 'auctions', key: null, value: bytes }) as Conversion).payload,
  chain: (tree: Tree) => snakeCaseChain(tree),
  crier: (tree: Tree) => snakeCase.convertObjToSnakeKeys(tree),
  parse: () => JSON.parse(bytes.toString('utf8')) as unknown,
  avroText: () => JSON.stringify(avroDecoder.decode(avroBytes)),
  avscText: () => JSON.stringify(avroType.fromBuffer(avroBytes)),
  protobufText: () => JSON.stringify(protoDecoder.decode(indexedProtoBytes)),
  /** Longs as numbers and zero values, as crier has them. */
  protobufjsText: () =>
    JSON.stringify(protoType.toObject(protoType.decode(protoBytes), { longs: Number, defaults: true })),
};
type Step = keyof typeof steps;
const names = Object.keys(steps) as Step[];

/** Microseconds per record. The trees are parsed before the clock starts, because the conversion reuses its input. */
function round(step: (tree: Tree) => unknown): number {
  const results: unknown[] = Array.from({ length: RECORDS_PER_ROUND }, () => JSON.parse(json) as Tree);
  const start = process.hrtime.bigint();
  for (let i = 0; i < RECORDS_PER_ROUND; i++) results[i] = step(results[i] as Tree);
  return Number(process.hrtime.bigint() - start) / 1000 / RECORDS_PER_ROUND;
}

assert.equal(steps.parsedText(), steps.chainText());
// The record has more keys than are learnt at once.
for (let i = 0; i < 1000; i++) assert.equal(String(steps.crierText()), steps.chainText());

assert.equal(steps.avroText(), steps.chainText());
const protobufTree = JSON.parse(JSON.stringify(tree, withoutNulls)) as Tree;
assert.equal(steps.protobufText(), JSON.stringify(snakeCaseChain(protobufTree)));

const rounds: Record<Step, number>[] = [];
for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
  const figures = Object.fromEntries(names.map((name) => [name, round(steps[name])])) as Record<Step, number>;
  if (i >= WARM_UP_ROUNDS) rounds.push(figures);
}

const microseconds = Object.fromEntries(
  names.map((name) => [name, Number(median(rounds.map((figures) => figures[name])).toFixed(2))]),
) as Record<Step, number>;
const ratioOf = (before: Step, now: Step) =>
  Number(median(rounds.map((figures) => figures[before] / figures[now])).toFixed(2));
const ratio = ratioOf('chainText', 'crierText');
const renameRatio = ratioOf('chain', 'crier');
const avroRatio = ratioOf('avscText', 'avroText');
const protobufRatio = ratioOf('protobufjsText', 'protobufText');
const conditions = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  date: new Date().toISOString().slice(0, 10),
  recordBytes: bytes.length,
  avroBytes: avroBytes.length,
  protobufBytes: protoBytes.length,
  rounds: ROUNDS,
  recordsPerRound: RECORDS_PER_ROUND,
};

const row = (title: string, figure: string) => `${title.padEnd(52)}${figure.padStart(12)}\n`;
const us = (step: Step) => `${microseconds[step].toFixed(2)} µs`;
process.stdout.write(
  row('record to payload text, lodash chain (the original)', us('chainText')) +
    row('record to payload text and channel, crier', us('crierText')) +
    row('ratio (median of rounds)', `${ratio} ×`) +
    row('record to payload text, crier, parsed', us('parsedText')) +
    row('snake_case alone, lodash chain', us('chain')) +
    row('snake_case alone, crier', us('crier')) +
    row('ratio (median of rounds)', `${renameRatio} ×`) +
    row('JSON.parse alone', us('parse')) +
    row('Avro to payload text, avsc and JSON.stringify', us('avscText')) +
    row('Avro to payload text, crier', us('avroText')) +
    row('ratio (median of rounds)', `${avroRatio} ×`) +
    row('Protobuf to payload text, protobufjs', us('protobufjsText')) +
    row('Protobuf to payload text, crier', us('protobufText')) +
    row('ratio (median of rounds)', `${protobufRatio} ×`) +
    `${Object.entries(conditions)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}\n`,
);
await mkdir('loadtest/results', { recursive: true });
await writeFile(
  'loadtest/results/convert.json',
  `${JSON.stringify({ ratio, renameRatio, avroRatio, protobufRatio, microseconds, conditions }, null, 2)}\n`,
);
if (ratio < LEAST_RATIO || renameRatio < LEAST_RENAME_RATIO) {
  process.stderr.write(
    `convert: ${ratio} times the throughput of the lodash chain, and ${renameRatio} times of renaming; ` +
      `expected at least ${LEAST_RATIO} and ${LEAST_RENAME_RATIO}\n`,
  );
  process.exitCode = 1;
}
if (avroRatio < LEAST_LIBRARY_RATIO || protobufRatio < LEAST_LIBRARY_RATIO) {
  process.stderr.write(
    `convert: ${avroRatio} times the throughput of avsc, and ${protobufRatio} times that of protobufjs; ` +
      `expected at least ${LEAST_LIBRARY_RATIO}\n`,
  );
  process.exitCode = 1;
}
