/**
 * What graphql-jit brings to the events of one subscription: CPU per event, executed alone, in alternating rounds of one process.
 * `compiled`: templates, and slots compiled by graphql-jit (JIT_AFTER_USES=3); `interpreted`: templates, and slots by graphql-js;
 * `off`: whole events by graphql-js (JIT_AFTER_USES=0).
 *
 *     npm run -s build:test && node dist/loadtest/deviations/jit.js
 */
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFacts, createRequest } from '../../src/graph/context/connection-facts.ts';
import type { BackendPort } from '../../src/graph/context/execution-backends.ts';
import { DocumentCache } from '../../src/graph/documents/document-cache.ts';
import { RequestedDocuments } from '../../src/graph/documents/requested-documents.ts';
import type { EventResult } from '../../src/graph/execution/event-executor.ts';
import { Executor } from '../../src/graph/execution/executor.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { TextPayload } from '../../src/graph/payload.ts';
import { GraphRuntime } from '../../src/graph/runtime.ts';
import { SnakeCase } from '../../src/kafka/decoding/snake-case.ts';
import { createLog } from '../../src/base/log.ts';
import { auctionDocument } from '../fanout/auction.ts';
import { median } from '../median.ts';

const ROUNDS = 9;
const EVENTS_PER_ROUND = 4_000;
const WAYS = ['compiled', 'interpreted', 'off'] as const;
type Way = (typeof WAYS)[number];

const LIMITS = {
  maxLength: 15_000,
  maxTokens: 1_000,
  maxDepth: 8,
  maxAliases: 15,
  maxDirectives: 50,
  hasIntrospection: true,
  maxEntries: 10,
  maxBytes: 1_000_000,
  maxInvalidEntries: 10,
};

const record = JSON.parse(readFileSync('loadtest/records/auction.json', 'utf8')) as Record<string, unknown>;
const bytes = Buffer.from(JSON.stringify(new SnakeCase().convertObjToSnakeKeys(record)));

/** The story's fields of the record's auction, and one that a loader reads from a backend. */
const LOADER_DOCUMENT = auctionDocument().replace(/\} \}$/, ' listing { listing_id headline list_price } } }');

const listing = { listing_id: 'l1', headline: 'A house', list_price: 1 };
const reply = { body: [listing], text: JSON.stringify([listing]) };
const backends: BackendPort = { send: () => Promise.resolve(reply) };

async function executionOf(path: string, query: string, way: Way): Promise<() => Promise<EventResult> | EventResult> {
  const graph = await loadGraph(path);
  const executor = new Executor(graph.schema, { jitAfterUses: way === 'off' ? 0 : 3 });
  const runtime = new GraphRuntime({
    graph,
    documents: new RequestedDocuments({ cache: new DocumentCache(graph.schema, LIMITS) }),
    executor,
    backends,
    channelPrefix: '',
    log: createLog('warn'),
    onInternalError: () => undefined,
  });
  const operation = runtime.prepare({ query }, undefined);
  if ('errors' in operation) throw new Error(JSON.stringify(operation.errors));
  const facts = createFacts(createRequest({ id: 'c', rawHeaders: [], params: {}, address: '::1' }), { user: 'u7' });
  const variables = { auction_id: 982_451 };
  await runtime.subscribe(operation, variables, facts);
  const plan = executor.planOf(operation);
  if (way === 'interpreted') plan.compiled = null;
  const execute = () => runtime.startEvent(new TextPayload(bytes)).execute({ operation, variables, facts });
  for (let i = 0; i < 5; i++) await execute();
  if (way === 'interpreted' && plan.split?.slots) plan.split.slots.compiled = null;
  return execute;
}

for (const [name, path, query] of [
  ['reference graph, one loader field', 'dist/examples/auction', LOADER_DOCUMENT],
  ['light graph, one field per user', 'loadtest/graphs/fanout', auctionDocument('viewer')],
] as const) {
  const executions = new Map(
    await Promise.all(WAYS.map(async (way) => [way, await executionOf(path, query, way)] as const)),
  );
  const texts = await Promise.all(
    WAYS.map(async (way) => Buffer.concat((await executions.get(way)!()).json).toString()),
  );
  if (new Set(texts).size > 1) throw new Error(`different results:\n${texts.join('\n')}`);
  const costs = new Map(WAYS.map((way) => [way, [] as number[]]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const way of WAYS) {
      const execute = executions.get(way)!;
      await nextTurn();
      const before = process.cpuUsage();
      for (let i = 0; i < EVENTS_PER_ROUND; i++) await execute();
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) costs.get(way)!.push((user + system) / EVENTS_PER_ROUND);
    }
  }
  const figures = WAYS.map((way) => `${way} ${median(costs.get(way)!).toFixed(1)}`);
  process.stdout.write(`${name}: ${texts[0]!.length} bytes; µs of CPU per event: ${figures.join(', ')}\n`);
}
