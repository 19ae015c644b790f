/**
 * Memory of a context and the time to make one: the story's contexts, which live for a connection, against crier's, which live for an
 * execution.
 *
 *     npm run -s build:test && taskset -c 0 node --max-semi-space-size=16 dist/loadtest/deviations/contexts.js
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createContext } from '../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../src/graph/context/context.ts';
import { createFacts, createRequest } from '../../src/graph/context/connection-facts.ts';
import * as auctionGraph from '../../examples/auction/context.ts';
import type { AuctionContext } from '../../examples/auction/context.ts';
import { createContext as createStoryContext } from '../ladder/pod/context.ts';
import type { Context } from '../ladder/pod/context.ts';
import { median } from '../median.ts';

const ROUNDS = 21;
const CONTEXTS = 2000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const port = { send: () => Promise.resolve({ body: null, text: '' }) };
const params = { authorization: 'Bearer caller' };
const facts = createFacts(createRequest({ id: '1', rawHeaders: [], params, address: '127.0.0.1' }), {});
const eager = { backends: 'eager', loaders: 'eager' } as Parameters<typeof createStoryContext>[0];
const lazy = { ...eager, backends: 'lazy', loaders: 'lazy' } as typeof eager;
const crierContext = () => createContext(auctionGraph, port, facts);

const makers: Readonly<Record<string, () => unknown>> = {
  'the story, before: all backends, loaders and primers': () => createStoryContext(eager, params),
  'the story, after: lazy backends, Proxy.lazy': () => createStoryContext(lazy, params),
  'the story, after, one loader and its backend read': () => readStory(createStoryContext(lazy, params)),
  crier: crierContext,
  'crier, one fact read': () => readFact(crierContext()),
  'crier, one loader and its backend read': () => readLoader(crierContext()),
};

function readStory(context: Context): Context {
  void context.loaders['seller_by_id'];
  void context.backends['seller']!.post;
  return context;
}

function readFact(context: ExecutionContext): ExecutionContext {
  void context.connection.claims['user'];
  return context;
}

function readLoader(context: ExecutionContext): ExecutionContext {
  void (context as AuctionContext).loaders.seller_by_id;
  void context.backends['seller']!.post;
  return context;
}

/** Bytes that one object keeps. */
function bytesOf(make: () => unknown): number {
  const kept: unknown[] = Array.from({ length: CONTEXTS }, () => null);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < CONTEXTS; i++) kept[i] = make();
  collect();
  return (process.memoryUsage().heapUsed - before) / kept.length;
}

/** Microseconds to make one and drop it, garbage collection included. */
function microsecondsOf(make: () => unknown): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < CONTEXTS; i++) make();
  return Number(process.hrtime.bigint() - start) / 1000 / CONTEXTS;
}

const rounds = new Map(Object.keys(makers).map((name) => [name, { bytes: [] as number[], time: [] as number[] }]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, make] of Object.entries(makers)) {
    rounds.get(name)!.bytes.push(bytesOf(make));
    rounds.get(name)!.time.push(microsecondsOf(make));
  }
}
process.stdout.write('| context | bytes | µs to make |\n| --- | ---: | ---: |\n');
for (const [name, { bytes, time }] of rounds) {
  process.stdout.write(`| ${name} | ${median(bytes).toFixed(0)} | ${median(time).toFixed(2)} |\n`);
}
