/**
 * The cost of events that the filters of a channel's subscriptions reject: an auction record of 2 KB reaches the groups of a channel, as a
 * message of the bus does. All sets share one read of the event: the compared values from its text, or, for comparison, the parsed event.
 * Exits with 1 beyond 2 µs for each event and set where values are read from the text, from 10 sets on.
 *
 *     npm run -s build:test && node dist/loadtest/filters.js
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { FilteredGroups } from '../src/gateway/fanout/filtered-groups.ts';
import { SharingGroup } from '../src/gateway/fanout/sharing/sharing-group.ts';
import { filterFor } from '../src/graph/filter/argument-filter.ts';
import { FilterReaders } from '../src/graph/filter/filter-readers.ts';
import type { Operator } from '../src/graph/filter/filter-rule.ts';
import { TextPayload } from '../src/graph/payload.ts';
import { SnakeCase } from '../src/kafka/decoding/snake-case.ts';
import { median } from './median.ts';

const MOST_MICROSECONDS = 2;
const ROUNDS = 30;
const WARM_UP_ROUNDS = 5;
const SETS = [1, 10, 100, 1000, 10_000];
/** Evaluations in a round, at least. */
const EVALUATIONS = 20_000;
const PATHS: Partial<Record<Operator, string>> = {
  GTE: 'auction.current_bid',
  EQ: 'auction.auction_status',
  IN: 'auction.listing_id',
  PREFIX: 'auction.currency_code',
};

const record = JSON.parse(await readFile('loadtest/records/auction.json', 'utf8')) as Record<string, unknown>;
const text = Buffer.from(JSON.stringify(new SnakeCase().convertObjToSnakeKeys(record)));

const readers = new FilterReaders();

/** Groups of which each has a filter of its own, one in a hundred accepts the event. */
function groupsOf(op: Operator, sets: number, isParsed: boolean) {
  const filtered = new FilteredGroups();
  const groups: SharingGroup[] = [];
  const rules = [{ arg: 'x', path: PATHS[op]!, op, comparison: 'number' }] as const;
  const reader = isParsed ? undefined : readers.of(rules);
  for (let i = 0; i < sets; i++) {
    const accepts = i % 100 === 99;
    const x = op === 'GTE' ? (accepts ? -i : 1e12 + i) : op === 'IN' ? [`a${i}`, `b${i}`] : `a${i}`;
    const filter = filterFor(rules, { x }, reader);
    if (!filter || 'errors' in filter) throw new TypeError('no filter');
    const group = new SharingGroup(String(i), false, filter);
    filtered.add(group, filter);
    groups.push(group);
  }
  return (payload: TextPayload) => filtered.receivers(groups, payload).size;
}

/** Microseconds for each event and set of arguments, the read of the event included. */
function round(receivers: (payload: TextPayload) => number, sets: number): number {
  const events = Math.max(2, Math.ceil(EVALUATIONS / sets));
  const start = process.hrtime.bigint();
  for (let i = 0; i < events; i++) receivers(new TextPayload(text));
  return Number(process.hrtime.bigint() - start) / 1000 / events / sets;
}

/** Medians in µs: with the values read from the text, and from the parsed event, in turns. */
function measure(op: Operator, sets: number): { read: number; parsed: number } {
  const [read, parsed] = [false, true].map((isParsed) => ({
    receivers: groupsOf(op, sets, isParsed),
    rounds: [] as number[],
  }));
  for (let i = 0; i < WARM_UP_ROUNDS + ROUNDS; i++) {
    for (const { receivers, rounds } of [read!, parsed!]) rounds.push(round(receivers, sets));
  }
  const [ofRead, ofParsed] = [read!, parsed!].map(({ rounds }) => median(rounds.slice(WARM_UP_ROUNDS)));
  return { read: ofRead!, parsed: ofParsed! };
}

let isTooSlow = false;
process.stdout.write(`${'operator'.padEnd(20)}${SETS.map((sets) => `${sets} sets`.padStart(14)).join('')}\n`);
for (const op of Object.keys(PATHS) as Operator[]) {
  const figures = SETS.map((sets) => measure(op, sets));
  isTooSlow ||= figures.some(({ read }, index) => SETS[index]! > 1 && read > MOST_MICROSECONDS);
  for (const way of ['read', 'parsed'] as const) {
    const row = figures.map((figure) => `${figure[way].toFixed(3)} µs`.padStart(14)).join('');
    process.stdout.write(`${`${op}, ${way}`.padEnd(20)}${row}\n`);
  }
}
const parse = median(
  Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint();
    for (let i = 0; i < 1000; i++) void new TextPayload(text).value;
    return Number(process.hrtime.bigint() - start) / 1e6;
  }),
);
process.stdout.write(`parsing the event${`${parse.toFixed(2)} µs`.padStart(14)}\n`);
process.stdout.write(
  `node=${process.version} cpu=${cpus()[0]?.model ?? 'unknown'} cores=${cpus().length} payloadBytes=${text.length} rounds=${ROUNDS}\n`,
);
if (isTooSlow) {
  process.stderr.write(`filters: more than ${MOST_MICROSECONDS} µs for a rejected event and set of arguments\n`);
  process.exitCode = 1;
}
