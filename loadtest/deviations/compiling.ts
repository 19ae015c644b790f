/**
 * What each step of a new document costs, and what an execution saves once it is compiled; and what finding the compiled form costs:
 * by the document's SHA-256 in an LRU cache, or by a reference.
 *
 *     npm run -s build:test && taskset -c 0 node --max-semi-space-size=16 dist/loadtest/deviations/compiling.js
 */
import { hash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildSchema, execute, parse, validate } from 'graphql';
import type { DocumentNode } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { CompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { auctionDocument, auctionMessages, plainSdl } from '../fanout/auction.ts';
import { median } from '../median.ts';

const DOCUMENTS = 300;
const EXECUTIONS = 2000;
const ROUNDS = 15;
const VARIABLES = { auction_id: 1 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const schema = buildSchema(plainSdl());
const query = auctionDocument();
const rootValue = { auction_updated: (JSON.parse(auctionMessages(1)(0)) as { auction: unknown }).auction };

/** Distinct documents of the same size. */
const texts = Array.from({ length: DOCUMENTS }, (_, i) => query.replace('Hot', `Hot${i}`));
const documents: DocumentNode[] = [];
const compiled: CompiledQuery[] = [];

function millisecondsOf(step: (text: string, i: number) => void): number {
  const times = texts.map((text, i) => {
    const start = performance.now();
    step(text, i);
    return performance.now() - start;
  });
  return median(times);
}

function microsecondsOf(step: () => unknown, count = EXECUTIONS): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    for (let i = 0; i < count; i++) step();
    return ((performance.now() - start) * 1000) / count;
  });
  return median(times);
}

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

function compile(document: DocumentNode): CompiledQuery {
  const result = compileQuery(schema, document);
  if (!isCompiledQuery(result)) throw new Error('not compiled');
  return result;
}

const start = heapUsed();
const parseMs = millisecondsOf((text, i) => (documents[i] = parse(text, { noLocation: true })));
const parsed = heapUsed();
const validateMs = millisecondsOf((_, i) => void validate(schema, documents[i]!));
const validated = heapUsed();
const compileMs = millisecondsOf((_, i) => (compiled[i] = compile(documents[i]!)));
const afterCompile = heapUsed();
const firstMs = millisecondsOf((_, i) => void compiled[i]!.query(rootValue, {}, VARIABLES));
const afterFirst = heapUsed();

const document = documents[0]!;
const { query: run } = compiled[0]!;
const items = new LRUCache<string, CompiledQuery>({ max: 1000 });
texts.forEach((text, i) => items.set(hash('sha256', text), compiled[i]));
const key = hash('sha256', texts[0]!);
const operation = { compiled: compiled[0]! };

const ms = (figure: number) => `${figure.toFixed(2)} ms`;
const us = (figure: number) => `${figure.toFixed(2)} µs`;
const kb = (bytes: number) => `${(bytes / 1024 / DOCUMENTS).toFixed(1)} KB`;
const rows: readonly (readonly [step: string, time: string, memory: string])[] = [
  ['parse', ms(parseMs), kb(parsed - start)],
  ['validate', ms(validateMs), ''],
  ['compile', ms(compileMs), kb(afterCompile - validated)],
  ['first execution of a compiled operation', ms(firstMs), kb(afterFirst - afterCompile)],
  [
    'an execution by graphql-js',
    us(microsecondsOf(() => execute({ schema, document, rootValue, variableValues: VARIABLES }))),
    '',
  ],
  ['an execution, compiled', us(microsecondsOf(() => run(rootValue, {}, VARIABLES))), ''],
  [
    'find the compiled form: SHA-256 of the text, then the LRU',
    us(microsecondsOf(() => items.get(hash('sha256', texts[0]!)))),
    '',
  ],
  ['find it: the LRU by a kept key', us(microsecondsOf(() => items.get(key), 200_000)), ''],
  ['find it: a reference on the operation', us(microsecondsOf(() => operation.compiled, 200_000)), ''],
];
process.stdout.write('| step | time | memory per document |\n| --- | ---: | ---: |\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
