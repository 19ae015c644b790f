import type { Spread } from '../spread.ts';
import type { Cells } from '../table.ts';
import { baseName, titleOf } from './contenders.ts';
import type { Row } from './summary.ts';
import { loadText } from './trial.ts';

const COLUMNS = [
  'server',
  'sockets',
  'K',
  'deliveries/s',
  '× raw ws',
  '× graphql-ws',
  'CPU µs/delivery',
  '× raw ws',
  'in the kernel',
  'p50 ms',
  '× raw ws',
  'p99 ms',
  'lag p99 ms',
  'RSS MB',
  'client CPU',
];

/** One line per server, number of sockets and K. */
export function fanoutTable(rows: readonly Row[]): Cells[] {
  return [COLUMNS, ...rows.map(cellsOf)];
}

function cellsOf(row: Row): Cells {
  const raw = row.ratios['raw-ws'];
  const graphqlWs = row.ratios['graphql-ws'];
  return [
    `${titleOf(row.contender)}${row.isForAll ? '' : ', an auction each'}${row.stalled > 0 ? `, ${row.stalled} stalled` : ''}`,
    String(row.sockets),
    loadOf(row),
    Math.round(row.deliveriesPerSecond.median).toLocaleString('en'),
    times(raw?.deliveriesPerSecond),
    times(graphqlWs?.deliveriesPerSecond),
    row.serverCpuUs.median.toFixed(1),
    times(raw?.serverCpuUs),
    row.serverKernelUs.median.toFixed(1),
    row.p50Ms.median.toFixed(1),
    times(raw?.p50Ms),
    row.p99Ms.median.toFixed(1),
    row.lagP99Ms.median.toFixed(1),
    row.residentMb.median.toFixed(0),
    `${row.clientCpuPercent.median.toFixed(0)} %`,
  ];
}

/** One line per row with a base, comparing the two; only the head without any. */
export function baseTable(rows: readonly Row[]): Cells[] {
  const lines = rows.flatMap((row) => {
    const base = row.ratios[baseName(row.contender)];
    if (!base) return [];
    const { deliveriesPerSecond, serverCpuUs, p50Ms, messageBytes } = base;
    const figures = [deliveriesPerSecond, serverCpuUs, p50Ms, messageBytes].map(times);
    return [[titleOf(row.contender), String(row.sockets), loadOf(row), ...figures]];
  });
  return [['against its base', 'sockets', 'K', 'deliveries/s', 'CPU/delivery', 'p50', 'bytes'], ...lines];
}

/** The load, in the column `K`. */
function loadOf({ outstanding, rate }: Row): string {
  return rate === undefined ? String(outstanding) : loadText({ outstanding, rate });
}

function times(ratio: Spread | undefined): string {
  return ratio === undefined ? '' : `${ratio.median.toFixed(2)} ×`;
}
