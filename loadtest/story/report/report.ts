import { missedBounds } from '../backlog/bounds.ts';
import { megabytes, percent, times, whole } from './figure-text.ts';
import type { BacklogSample, StoryResult, StorySample } from '../result.ts';
import { TALK_FLOOD_SECONDS, talkBaseline, talkEnd } from './talk-figures.ts';
import type { TalkStep } from './talk-figures.ts';
import { escapeMarkup, stackedCharts, timeChart } from './time-chart.ts';

export type Conditions = Readonly<Record<string, string | number | boolean>>;

type Cells = readonly string[];

export interface Table {
  readonly title: string;
  readonly head: Cells;
  readonly rows: readonly Cells[];
}

/** Above it the client, and not the pod, may be what was measured. */
const BUSY_CLIENT_PERCENT = 80;

/** Of a bound. */
const MISSED = 'MISSED';

const BACKLOG_HEIGHT = 240;

/** Below it the pod waited for something else than records. */
const IDLE_POD_PERCENT = 70;

export const COUNTS_NOTE =
  'The talk ran on another machine: what its baseline does on this one, and so a ratio that means something, is what ' +
  'npm run loadtest -- --ladder measures.';

/** recv: records that the pod took from Kafka; send: messages that reached sockets. Both in the flood's window. */
export function countsTable({ flood, title, sockets }: StoryResult): Table {
  const seconds = flood.durationMs / 1000;
  const talkRow = ({ title, received, sent }: TalkStep) => row(title, TALK_FLOOD_SECONDS, received, sent);
  const row = (name: string, seconds: number, received: number, sent: number) => [
    name,
    `${whole(seconds)} s`,
    whole(received),
    whole(sent),
    perMinute(received, seconds),
    perMinute(sent, seconds),
    times(received / seconds / (talkBaseline.received / TALK_FLOOD_SECONDS)),
    times(sent / seconds / (talkBaseline.sent / TALK_FLOOD_SECONDS)),
  ];
  return {
    title: `Flood, ${whole(sockets)} sockets`,
    head: ['', 'flood', 'recv', 'send', 'recv/min', 'send/min', 'recv vs. baseline', 'send vs. baseline'],
    rows: [talkRow(talkBaseline), talkRow(talkEnd), row(title, seconds, flood.received, flood.sent)],
  };
}

/** A tenth is of interest in few: the talk's pods took 4.0 records. */
function perMinute(count: number, seconds: number): string {
  const rate = (count / seconds) * 60;
  return rate < 100 ? rate.toFixed(1) : whole(rate);
}

export function heapTable({ heap, title }: StoryResult): Table {
  return {
    title: 'Node.js max heap used',
    head: ['', 'bare, max', 'idle, plateau', 'idle, max', 'flood, plateau', 'flood, max'],
    rows: [
      [talkBaseline.title, '', megabytes(talkBaseline.idlePlateauBytes), '', '', 'over 1,000 MB'],
      [talkEnd.title, '', megabytes(talkEnd.idlePlateauBytes), '', '', 'just under 1,000 MB'],
      [
        title,
        ...[heap.bareMax, heap.idlePlateau, heap.idleMax, heap.floodPlateau, heap.floodMax].map((b) => megabytes(b)),
      ],
    ],
  };
}

/** undefined: the flood was paced. */
export function boundsTable({ free }: StoryResult): Table | undefined {
  return (
    free && {
      title: 'What a flood without a limit must keep to',
      head: ['', 'measured', 'expected', ''],
      rows: free.bounds.map(({ name, value, limit, isKept }) => [name, value, limit, isKept ? 'kept' : MISSED]),
    }
  );
}

/** All of them, in the order in which they are shown. */
export function tablesOf(result: StoryResult): Table[] {
  const bounds = boundsTable(result);
  return [countsTable(result), heapTable(result), ...(bounds ? [bounds] : [])];
}

/** The verdict first, then what a reader must know to believe it. */
export function remarks(result: StoryResult): string[] {
  const { faults, flood, sockets, clientCpuPercent, gcPercent, connectMs, producer } = result;
  const verdict =
    faults.length === 0
      ? `Reconciled: each of ${whole(flood.produced)} records reached each of ${whole(sockets)} sockets once, ` +
        `${whole(flood.delivered)} deliveries; the last ${whole(flood.drainMs)} ms after the flood had stopped.`
      : `NOT reconciled: ${faults.join('; ')}.`;
  const client = `The client used ${percent(clientCpuPercent)} of its core in the flood`;
  return [
    verdict,
    ...freeRemarks(result),
    clientCpuPercent > BUSY_CLIENT_PERCENT
      ? `WARNING: ${client}, more than ${BUSY_CLIENT_PERCENT} %: it, and not the pod, may be what was measured.`
      : `${client}: it is not what was measured.`,
    podRemark(result),
    `Garbage collection took ${gcPercent.toFixed(1)} % of the pod's CPU time in the flood; connecting took ${whole(connectMs)} ms; ` +
      `the records were written by ${producer}.`,
  ];
}

function freeRemarks({ free, flood, sockets }: StoryResult): string[] {
  if (!free) return [];
  const missed = missedBounds(free.bounds);
  const { pacePerSecond, writtenPerSecond, undelivered, inKafka, age } = free;
  const rate = (flood.sent / flood.durationMs) * 1000;
  return [
    missed.length === 0 ? 'Every bound was kept.' : `NOT kept: ${missed.join('; ')}.`,
    `The writers wrote ${whole(writtenPerSecond)} records a second, ${times((writtenPerSecond * sockets) / rate)} what arrived: ` +
      `${whole(rate)} messages a second, in the closed loop before ${whole(pacePerSecond)}.`,
    `When the writers stopped, ${whole(undelivered)} records had not reached every socket; ${whole(inKafka)} of them were in Kafka.`,
    `From publish to the last socket: p50 ${whole(age.p50Ms)} ms, p99 ${whole(age.p99Ms)} ms, at most ${whole(age.maxMs)} ms ` +
      `(${whole(age.count)} records).`,
  ];
}

/** The flood always has work for the pod: where it used little CPU, somebody else did. */
function podRemark({ samples }: StoryResult): string {
  const inFlood = samples.filter(({ phase }) => phase === 'flood');
  const sum = (of: (sample: StorySample) => number) => inFlood.reduce((total, sample) => total + of(sample), 0);
  const used = (sum(({ cpuMs }) => cpuMs) / sum(({ durationMs }) => durationMs)) * 100;
  const remark = `The pod used ${percent(used)} of a core in the flood`;
  return used < IDLE_POD_PERCENT
    ? `WARNING: ${remark}, though there was always work: other work kept the machine busy, or Kafka and kcat did.`
    : `${remark}.`;
}

/** The story's picture. */
export function heapChart({ title, sockets, phases, samples }: StoryResult): string {
  return timeChart({
    title: `Node.js max heap used: ${title}, ${whole(sockets)} sockets`,
    unit: 'MB',
    phases,
    series: [
      { label: 'max heap used', color: '#0969da', points: pairs(samples, (s) => s.heapUsedBytes / 1e6) },
      { label: 'resident (RSS)', color: '#8c959f', points: pairs(samples, (s) => s.residentBytes / 1e6) },
      { label: 'external', color: '#bf8700', points: pairs(samples, (s) => s.externalBytes / 1e6) },
    ],
  });
}

/** The heap, and below it the records that wait in Kafka at the same time. */
export function storyPicture(result: StoryResult): string {
  const heap = heapChart(result);
  return result.free ? stackedCharts([heap, backlogChart(result)]) : heap;
}

function backlogChart({ phases, samples }: StoryResult): string {
  return timeChart({
    title: 'Records that wait in Kafka',
    unit: '',
    phases,
    height: BACKLOG_HEIGHT,
    series: [{ label: 'lag', color: '#cf222e', points: backlogPairs(samples, ({ kafkaRecords }) => kafkaRecords) }],
  });
}

function freeCharts({ phases, samples }: StoryResult): string[] {
  const common = { phases, height: BACKLOG_HEIGHT };
  return [
    timeChart({
      ...common,
      title: 'What waits behind Kafka, largest of the second',
      unit: 'MB',
      series: [
        {
          label: "Redis's output buffer",
          color: '#cf222e',
          points: backlogPairs(samples, ({ redisOutputBytes }) => redisOutputBytes / 1e6),
        },
        {
          label: "a gateway's queues",
          color: '#0969da',
          points: backlogPairs(samples, ({ queueBytes }) => queueBytes / 1e6),
        },
      ],
    }),
    timeChart({
      ...common,
      title: 'From publish to the last socket',
      unit: 'ms',
      series: [
        { label: 'p99', color: '#cf222e', points: backlogPairs(samples, ({ ageP99Ms }) => ageP99Ms) },
        { label: 'p50', color: '#0969da', points: backlogPairs(samples, ({ ageP50Ms }) => ageP50Ms) },
      ],
    }),
  ];
}

function backlogPairs(samples: readonly StorySample[], valueOf: (backlog: BacklogSample) => number) {
  return samples.flatMap(({ atMs, backlog }) => (backlog ? [[atMs, valueOf(backlog)] as const] : []));
}

function detailCharts({ phases, samples }: StoryResult): string[] {
  const gcOf = ({ gcMs, durationMs }: StorySample, kinds: readonly (keyof typeof gcMs)[]) =>
    (kinds.reduce((sum, kind) => sum + gcMs[kind], 0) / durationMs) * 100;
  const sent = samples.map(
    (s, i) => [s.atMs, ((s.delivered - (samples[i - 1]?.delivered ?? 0)) / s.durationMs) * 1000] as const,
  );
  const common = { phases, height: 240 };
  return [
    timeChart({
      ...common,
      title: 'Messages sent per second',
      unit: '',
      series: [{ label: 'send/s', color: '#0969da', points: sent }],
    }),
    timeChart({
      ...common,
      title: 'CPU and garbage collection, share of a second',
      unit: '%',
      series: [
        { label: 'CPU', color: '#8c959f', points: pairs(samples, (s) => (s.cpuMs / s.durationMs) * 100) },
        { label: 'scavenges', color: '#0969da', points: pairs(samples, (s) => gcOf(s, ['scavenge'])) },
        {
          label: 'mark-sweep, incremental',
          color: '#cf222e',
          points: pairs(samples, (s) => gcOf(s, ['markSweep', 'incremental', 'weakCallbacks'])),
        },
      ],
    }),
    timeChart({
      ...common,
      title: 'Event-loop lag, worst of the second',
      unit: 'ms',
      series: [{ label: 'lag', color: '#8250df', points: pairs(samples, (s) => s.lagMs) }],
    }),
  ];
}

function pairs(samples: readonly StorySample[], valueOf: (sample: StorySample) => number) {
  return samples.map((sample) => [sample.atMs, valueOf(sample)] as const);
}

export function textTable({ title, head, rows }: Table): string {
  const lines = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  const text = lines.map((line) =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
  return `${title}\n${text.join('\n')}\n`;
}

/** One document without anything from elsewhere. */
export function htmlReport(result: StoryResult, conditions: Conditions): string {
  const title = `The story: ${result.title}, ${whole(result.sockets)} sockets`;
  const classOf = (remark: string) => (/^(NOT|WARNING)/.test(remark) ? ' class="bad"' : '');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeMarkup(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #24292f; background: #fff; max-width: 960px; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 0 0 1.5em }
caption { text-align: left; font-weight: 600; padding: 0.5em 0 }
th, td { padding: 0.25em 0.9em; border-bottom: 1px solid #d0d7de; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
tr.own td { font-weight: 600 }
svg { max-width: 100%; height: auto; margin-bottom: 1em }
.bad { color: #cf222e; font-weight: 600 }
.note, dl { color: #57606a; font-size: 13px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em }
dd { margin: 0 }
</style>
<h1>${escapeMarkup(title)}</h1>
${storyPicture(result)}
${tablesOf(result)
  .map((table) => htmlTable(table, result.title))
  .join('\n')}
<p class="note">${escapeMarkup(COUNTS_NOTE)}</p>
${remarks(result)
  .map((remark) => `<p${classOf(remark)}>${escapeMarkup(remark)}</p>`)
  .join('\n')}
${[...(result.free ? freeCharts(result) : []), ...detailCharts(result)].join('\n')}
<h2>Conditions</h2>
<dl>
${Object.entries(conditions)
  .map(([name, value]) => `<dt>${escapeMarkup(name)}</dt><dd>${escapeMarkup(String(value))}</dd>`)
  .join('\n')}
</dl>
</html>
`;
}

/** The rows of this run's pods stand out, and bounds that were missed. */
function htmlTable({ title, head, rows }: Table, own: string): string {
  const line = (tag: string, cells: Cells) => {
    const rowClass = cells[0] === own ? ' class="own"' : cells.at(-1) === MISSED ? ' class="bad"' : '';
    return `<tr${rowClass}>${cells.map((cell) => `<${tag}>${escapeMarkup(cell)}</${tag}>`).join('')}</tr>`;
  };
  return `<table><caption>${escapeMarkup(title)}</caption>
${line('th', head)}
${rows.map((cells) => line('td', cells)).join('\n')}
</table>`;
}
