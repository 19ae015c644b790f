import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import avro from 'avsc';
import protobuf from 'protobufjs';
import { snakeCaseName } from '../src/base/json/key-naming.ts';
import { TopicRouter } from '../src/graph/router.ts';
import type { Conversion } from '../src/kafka/batch.ts';
import { compileAvro } from '../src/kafka/decoding/avro/avro.ts';
import { Converter } from '../src/kafka/decoding/converter.ts';
import { UNREAD } from '../src/kafka/decoding/decoder.ts';
import { envelopeOf } from '../src/kafka/decoding/envelopes/envelopes.ts';
import { compileProtobuf } from '../src/kafka/decoding/protobuf/protobuf.ts';
import { decodeRecord } from '../src/kafka/decoding/record.ts';
import { SnakeCase } from '../src/kafka/decoding/snake-case.ts';
import { snakeCaseChain } from './ladder/pod/snake-case-chain.ts';
import { avroSchemaOf, protoSchemaOf } from './records/record-schemas.ts';
import { defineScenario } from './runner/scenario.ts';
import { median } from './runner/spread.ts';

const LEAST_RATIO = 20;
const LEAST_RENAME_RATIO = 10;
const LEAST_LIBRARY_RATIO = 0.8;
/** Cost of a change of Debezium, by that of its row alone, which has 18 % fewer bytes. */
const MOST_CHANGE_RATIO = 1.5;
const ROUNDS = 60;
/** Few enough that a round stays in the young generation, as records do. */
const RECORDS_PER_ROUND = 200;
const WARM_UP_ROUNDS = 10;

type Tree = Record<string, unknown>;

/** As Debezium's connector of PostgreSQL writes it. */
const SOURCE =
  `"source":{"version":"3.0.0.Final","connector":"postgresql","name":"db","ts_ms":1700000000123,"snapshot":"false","db":"shop",
"sequence":"[\\"24023128\\",\\"24023128\\"]","ts_us":1700000000123456,"ts_ns":1700000000123456000,"schema":"public","table":"auctions","txId":746,
"lsn":24023128,"xmin":null},"transaction":null,"ts_ms":1700000000456,"ts_us":1700000000456789,"ts_ns":1700000000456789012`.replaceAll(
    '\n',
    '',
  );

export const scenario = defineScenario({
  name: 'convert',
  question: `What does the payload's text of one auction record cost: parsed, renamed by the story's lodash chain and printed, against
src/kafka/decoding/converter.ts, in alternating rounds of one process? The same for renaming alone. The same record as Avro and as
Protobuf, against avsc and protobufjs, which do not rename. The same record as the row of a change of Debezium, against the row alone.`,
  flags: {},
  packages: ['lodash', 'avsc', 'protobufjs'],
  isPinned: false,
  notes: `Exits with 1 below ${LEAST_RATIO} times the throughput, ${LEAST_RENAME_RATIO} times that of renaming, ${LEAST_LIBRARY_RATIO} times that of the libraries,
or above ${MOST_CHANGE_RATIO} times the cost of a row alone.`,
  run: async () => {
    const json = JSON.stringify(JSON.parse(await readFile('loadtest/records/auction.json', 'utf8')));
    const { steps, sizes } = stepsOf(json);
    const names = Object.keys(steps) as Step[];
    const rounds: Record<Step, number>[] = [];
    for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
      const figures = Object.fromEntries(names.map((name) => [name, microsecondsOf(steps[name], json)]));
      if (i >= WARM_UP_ROUNDS) rounds.push(figures as Record<Step, number>);
    }
    const rounded = (values: readonly number[]) => Number(median(values).toFixed(2));
    const microseconds = Object.fromEntries(names.map((name) => [name, rounded(rounds.map((of) => of[name]))]));
    const ratioOf = (before: Step, now: Step) => rounded(rounds.map((figures) => figures[before] / figures[now]));
    const ratio = ratioOf('chainText', 'crierText');
    const renameRatio = ratioOf('chain', 'crier');
    const [avroRatio, protobufRatio] = [ratioOf('avscText', 'avroText'), ratioOf('protobufjsText', 'protobufText')];
    const changeRatio = ratioOf('changeText', 'crierText');
    const us = (title: string, step: Step) => [title, `${microseconds[step]!.toFixed(2)} µs`];
    const times = (value: number) => ['ratio (median of rounds)', `${value} ×`];
    const below = (what: string, value: number, least: number) =>
      value < least ? [`${value} times the throughput of ${what}; expected at least ${least}`] : [];
    return {
      sections: [
        {
          table: [
            ['step', 'for a record'],
            us('record to payload text, lodash chain (the original)', 'chainText'),
            us('record to payload text and channel, crier', 'crierText'),
            times(ratio),
            us('record to payload text, crier, parsed', 'parsedText'),
            us('snake_case alone, lodash chain', 'chain'),
            us('snake_case alone, crier', 'crier'),
            times(renameRatio),
            us('JSON.parse alone', 'parse'),
            us('change of Debezium to payload text and channel, crier', 'changeText'),
            ['ratio to the row alone (median of rounds)', `${changeRatio} ×`],
            us('the same with the row before', 'updateText'),
            us('Avro to payload text, avsc and JSON.stringify', 'avscText'),
            us('Avro to payload text, crier', 'avroText'),
            times(avroRatio),
            us('Protobuf to payload text, protobufjs', 'protobufjsText'),
            us('Protobuf to payload text, crier', 'protobufText'),
            times(protobufRatio),
          ],
        },
      ],
      success: 'Every ratio is as promised.',
      faults: [
        ...below('the lodash chain', ratio, LEAST_RATIO),
        ...below('the lodash chain, renaming', renameRatio, LEAST_RENAME_RATIO),
        ...below('avsc', avroRatio, LEAST_LIBRARY_RATIO),
        ...below('protobufjs', protobufRatio, LEAST_LIBRARY_RATIO),
        ...(changeRatio > MOST_CHANGE_RATIO
          ? [`a change costs ${changeRatio} times its row alone; expected at most ${MOST_CHANGE_RATIO}`]
          : []),
      ],
      conditions: { ...sizes, rounds: ROUNDS, recordsPerRound: RECORDS_PER_ROUND },
      data: { ratio, renameRatio, changeRatio, avroRatio, protobufRatio, microseconds },
    };
  },
});

type Step = keyof ReturnType<typeof stepsOf>['steps'];

/** The steps, whose results are compared first. */
function stepsOf(json: string) {
  const bytes = Buffer.from(json);
  const tree = JSON.parse(json) as Tree;
  const limits = { maxBytes: 1_048_576, maxDepth: 64 };
  const snakeCase = new SnakeCase();
  const match = [{ arg: 'auction_id', path: 'auction.auction_id', isOptional: false }];
  const binding = { field: 'f', topics: ['auctions'], match, where: [], payload: [], isShared: true };
  const router = new TopicRouter('auctions', [binding], '');
  const converter = new Converter(new Map([['auctions', router]]), limits, snakeCase);
  const envelope = envelopeOf({ name: 'DEBEZIUM', read: undefined });
  const demand = { before: false, sourceTimestamp: false, transaction: false, isSnapshot: false };
  const rowRouter = new TopicRouter('auctions', [{ ...binding, envelope: 'DEBEZIUM' }], '');
  const changes = new Converter(new Map([['auctions', rowRouter]]), limits, snakeCase, {
    envelopes: new Map([['auctions', { envelope, demand }]]),
  });
  const changeBytes = (before: string, op: string) =>
    Buffer.from(`{"before":${before},"after":${json},${SOURCE},"op":"${op}"}`);
  const [createBytes, updateBytes] = [changeBytes('null', 'c'), changeBytes(json, 'u')];
  const changeTextOf = (value: Buffer) => {
    const { destinations, payload } = changes.convert({ topic: 'auctions', key: null, value }) as Conversion;
    return destinations![0]!.payload ?? payload!;
  };
  const decoderOptions = { nameOf: snakeCaseName, shape: UNREAD, limits, onOverflow: () => undefined };

  const avroSchema = avroSchemaOf(tree);
  const avroType = avro.Type.forSchema(avroSchema, { wrapUnions: 'never' });
  const avroBytes = avroType.toBuffer(tree);
  const avroDecoder = compileAvro(JSON.stringify(avroSchema), [], decoderOptions);

  const protoSchema = protoSchemaOf(tree);
  const protoType = protobuf.parse(protoSchema, { keepCase: true }).root.lookupType('Record');
  const withoutNulls = (_: string, value: unknown) => (value === null ? undefined : value);
  const protobufTree = () => JSON.parse(JSON.stringify(tree, withoutNulls)) as Tree;
  const protoBytes = protoType.encode(protoType.fromObject(protobufTree())).finish();
  const indexedProtoBytes = Buffer.concat([Buffer.of(0), protoBytes]);
  const protoDecoder = compileProtobuf(protoSchema, [], decoderOptions);

  const steps = {
    chainText: () => JSON.stringify(snakeCaseChain(JSON.parse(bytes.toString('utf8')) as Tree)),
    /** The path of a record that cannot be rewritten. */
    parsedText: () => JSON.stringify(snakeCase.convertObjToSnakeKeys(decodeRecord(bytes, limits).payload ?? {})),
    /** Also determines the channel. */
    crierText: () => (converter.convert({ topic: 'auctions', key: null, value: bytes }) as Conversion).payload,
    changeText: () => changeTextOf(createBytes),
    /** Whose values are read, too. */
    updateText: () => changeTextOf(updateBytes),
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
  assert.equal(steps.parsedText(), steps.chainText());
  // The record has more keys than are learnt at once.
  for (let i = 0; i < 1000; i++) assert.equal(String(steps.crierText()), steps.chainText());
  for (let i = 0; i < 1000; i++) {
    assert.equal(String(steps.changeText()), `${steps.chainText()}\n{"op":"CREATE"}`);
    assert.equal(String(steps.updateText()), `${steps.chainText()}\n{"op":"UPDATE"}`);
  }
  assert.equal(steps.avroText(), steps.chainText());
  assert.equal(steps.protobufText(), JSON.stringify(snakeCaseChain(protobufTree())));
  const sizes = { recordBytes: bytes.length, avroBytes: avroBytes.length, protobufBytes: protoBytes.length };
  return { steps, sizes };
}

/** Microseconds per record. The trees are parsed before the clock starts, because the conversion reuses its input. */
function microsecondsOf(step: (tree: Tree) => unknown, json: string): number {
  const results: unknown[] = Array.from({ length: RECORDS_PER_ROUND }, () => JSON.parse(json) as Tree);
  const start = process.hrtime.bigint();
  for (let i = 0; i < RECORDS_PER_ROUND; i++) results[i] = step(results[i] as Tree);
  return Number(process.hrtime.bigint() - start) / 1000 / RECORDS_PER_ROUND;
}
