import type { Cells } from '../../table.ts';
import type { StoryResult } from '../result.ts';
import { megabytes, times, whole } from './figure-text.ts';
import { TALK_FLOOD_SECONDS, talk } from './talk-figures.ts';

export interface Table {
  readonly title: string;
  readonly head: Cells;
  readonly rows: readonly Cells[];
}

/** The last cell of a bound that was exceeded. */
export const MISSED = 'MISSED';

/** recv: records that the pod took from Kafka; send: messages that reached sockets. Both in the flood's window. */
export function countsTable({ flood, title, sockets }: StoryResult): Table {
  const seconds = flood.durationMs / 1000;
  const talkRow = (name: string, { received, sent }: { received: number; sent: number }) =>
    row(name, TALK_FLOOD_SECONDS, received, sent);
  const row = (name: string, seconds: number, received: number, sent: number) => [
    name,
    `${whole(seconds)} s`,
    whole(received),
    whole(sent),
    perMinute(received, seconds),
    perMinute(sent, seconds),
    times(received / seconds / (talk.baseline.received / TALK_FLOOD_SECONDS)),
    times(sent / seconds / (talk.baseline.sent / TALK_FLOOD_SECONDS)),
  ];
  return {
    title: `Flood, ${whole(sockets)} sockets`,
    head: ['', 'flood', 'recv', 'send', 'recv/min', 'send/min', 'recv vs. baseline', 'send vs. baseline'],
    rows: [
      talkRow("the talk's baseline", talk.baseline),
      talkRow("the talk's last counts (snake_case in place)", talk.inPlace),
      row(title, seconds, flood.received, flood.sent),
    ],
  };
}

/** One decimal below 100: the talk's pods took 4.0 records a minute. */
function perMinute(count: number, seconds: number): string {
  const rate = (count / seconds) * 60;
  return rate < 100 ? rate.toFixed(1) : whole(rate);
}

export function heapTable({ heap, title }: StoryResult): Table {
  return {
    title: 'Node.js max heap used',
    head: ['', 'bare, max', 'idle, plateau', 'idle, max', 'flood, plateau', 'flood, max'],
    rows: [
      ["the talk's baseline", '', `${talk.baseline.idleMegabytes} MB`, '', '', 'over 1,000 MB'],
      ['the talk without locations', '', '', '', '', 'just under 1,000 MB'],
      ["the talk's end", '', `${talk.end.idleMegabytes} MB`, '', '', ''],
      [
        title,
        ...[heap.bareMax, heap.idlePlateau, heap.idleMax, heap.floodPlateau, heap.floodMax].map((b) => megabytes(b)),
      ],
    ],
  };
}

/** undefined: the flood was a closed loop. */
export function boundsTable({ openLoop }: StoryResult): Table | undefined {
  return (
    openLoop && {
      title: 'Bounds of the flood',
      head: ['', 'measured', 'expected', ''],
      rows: openLoop.bounds.map(({ name, value, limit, isKept }) => [name, value, limit, isKept ? 'kept' : MISSED]),
    }
  );
}

/** All tables, in the order of the report. */
export function tablesOf(result: StoryResult): Table[] {
  const bounds = boundsTable(result);
  return [countsTable(result), heapTable(result), ...(bounds ? [bounds] : [])];
}

export function textTable({ title, head, rows }: Table): string {
  const lines = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  const text = lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
  return `${title}\n${text.join('\n')}\n`;
}
