/**
 * What renaming and decoding one auction record costs: the story's lodash chain against src/kafka/snake-case.ts, in alternating
 * rounds of one process, so that both meet the same machine. Exits with 1 below 10 times the throughput.
 *
 *     npm run -s build:test && node dist/loadtest/convert.js
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { decodeRecord } from '../src/kafka/record.ts';
import { SnakeCase } from '../src/kafka/snake-case.ts';
import { snakeCaseChain } from './ladder/pod/snake-case-chain.ts';

const LEAST_RATIO = 10;
const ROUNDS = 60;
/** Few enough for a round to live in the young generation, as records do. */
const RECORDS_PER_ROUND = 200;
const WARM_UP_ROUNDS = 10;

type Tree = Record<string, unknown>;

const json = JSON.stringify(JSON.parse(await readFile('loadtest/records/auction.json', 'utf8')));
const bytes = Buffer.from(json);
const snakeCase = new SnakeCase();
const limits = { maxBytes: 1_048_576, maxDepth: 64 };
/** Deep enough for the record, and fewer levels than it has opening brackets: every byte is looked at. */
const tightLimits = { ...limits, maxDepth: 5 };

const steps = {
  chain: (tree: Tree) => snakeCaseChain(tree),
  crier: (tree: Tree) => snakeCase.convert(tree),
  parse: () => JSON.parse(bytes.toString('utf8')) as unknown,
  decode: () => decodeRecord(bytes, limits),
  decodeWithScan: () => decodeRecord(bytes, tightLimits),
};
type Step = keyof typeof steps;
const names = Object.keys(steps) as Step[];

/** Microseconds per record. The trees are parsed before the clock starts: the conversion takes its input over. */
function round(step: (tree: Tree) => unknown): number {
  const results: unknown[] = Array.from({ length: RECORDS_PER_ROUND }, () => JSON.parse(json) as Tree);
  const start = process.hrtime.bigint();
  for (let i = 0; i < RECORDS_PER_ROUND; i++) results[i] = step(results[i] as Tree);
  return Number(process.hrtime.bigint() - start) / 1000 / RECORDS_PER_ROUND;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

assert.equal(
  JSON.stringify(steps.crier(JSON.parse(json) as Tree)),
  JSON.stringify(steps.chain(JSON.parse(json) as Tree)),
);
assert.ok(steps.decode().payload && steps.decodeWithScan().payload);

const rounds: Record<Step, number>[] = [];
for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
  const figures = Object.fromEntries(names.map((name) => [name, round(steps[name])])) as Record<Step, number>;
  if (i >= WARM_UP_ROUNDS) rounds.push(figures);
}

const microseconds = Object.fromEntries(
  names.map((name) => [name, Number(median(rounds.map((figures) => figures[name])).toFixed(2))]),
) as Record<Step, number>;
const ratio = Number(median(rounds.map(({ chain, crier }) => chain / crier)).toFixed(1));
const conditions = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  date: new Date().toISOString().slice(0, 10),
  recordBytes: bytes.length,
  rounds: ROUNDS,
  recordsPerRound: RECORDS_PER_ROUND,
};

const row = (title: string, figure: string) => `${title.padEnd(44)}${figure.padStart(12)}\n`;
const us = (step: Step) => `${microseconds[step].toFixed(2)} µs`;
process.stdout.write(
  row('snake_case, lodash chain (the original)', us('chain')) +
    row('snake_case, crier', us('crier')) +
    row('ratio (median of rounds)', `${ratio} ×`) +
    row('JSON.parse alone', us('parse')) +
    row('decodeRecord', us('decode')) +
    row('decodeRecord, every byte scanned for depth', us('decodeWithScan')) +
    `${Object.entries(conditions)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}\n`,
);
await mkdir('loadtest/results', { recursive: true });
await writeFile('loadtest/results/convert.json', `${JSON.stringify({ ratio, microseconds, conditions }, null, 2)}\n`);
if (ratio < LEAST_RATIO) {
  process.stderr.write(
    `convert: ${ratio} times the throughput of the lodash chain, expected at least ${LEAST_RATIO}\n`,
  );
  process.exitCode = 1;
}
