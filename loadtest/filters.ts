/**
 * The cost of events that the filters of a channel's subscriptions reject: an auction record of 2 KB reaches the groups of a channel, as a
 * message of the bus does. The parse of the event is shared by all sets. Exits with 1 beyond 2 µs for each event and set, from 100 sets on.
 *
 *     npm run -s build:test && node dist/loadtest/filters.js
 */
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { FilteredGroups } from '../src/fanout/filtered-groups.ts';
import { SharingGroup } from '../src/fanout/sharing/sharing-group.ts';
import { filterFor } from '../src/graph/filter/event-filter.ts';
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

/** Groups of which each has a filter of its own, one in a hundred accepts the event. */
function groupsOf(op: Operator, sets: number) {
  const filtered = new FilteredGroups();
  const groups: SharingGroup[] = [];
  for (let i = 0; i < sets; i++) {
    const accepts = i % 100 === 99;
    const rule = { arg: 'x', path: PATHS[op]!, op, comparison: 'number' } as const;
    const x = op === 'GTE' ? (accepts ? -i : 1e12 + i) : op === 'IN' ? [`a${i}`, `b${i}`] : `a${i}`;
    const filter = filterFor([rule], { x });
    if (!filter || 'errors' in filter) throw new TypeError('no filter');
    const group = new SharingGroup(String(i), false, filter);
    filtered.add(group, filter);
    groups.push(group);
  }
  return (payload: TextPayload) => filtered.receivers(groups, payload).size;
}

/** Microseconds for each event and set of arguments, the parse of the event included. */
function round(receivers: (payload: TextPayload) => number, sets: number): number {
  const events = Math.max(2, Math.ceil(EVALUATIONS / sets));
  const start = process.hrtime.bigint();
  for (let i = 0; i < events; i++) receivers(new TextPayload(text));
  return Number(process.hrtime.bigint() - start) / 1000 / events / sets;
}

let isTooSlow = false;
process.stdout.write(`${'operator'.padEnd(12)}${SETS.map((sets) => `${sets} sets`.padStart(14)).join('')}\n`);
for (const op of Object.keys(PATHS) as Operator[]) {
  const figures = SETS.map((sets) => {
    const receivers = groupsOf(op, sets);
    const rounds = Array.from({ length: WARM_UP_ROUNDS + ROUNDS }, () => round(receivers, sets)).slice(WARM_UP_ROUNDS);
    return median(rounds);
  });
  isTooSlow ||= figures.some((figure, index) => SETS[index]! >= 100 && figure > MOST_MICROSECONDS);
  process.stdout.write(`${op.padEnd(12)}${figures.map((figure) => `${figure.toFixed(3)} µs`.padStart(14)).join('')}\n`);
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
