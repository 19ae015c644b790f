import type { Section } from '../../runner/report.ts';
import { sum } from '../../runner/spread.ts';
import { missedBounds } from '../backlog/bounds.ts';
import type { StoryResult, StorySample } from '../result.ts';
import { TALK_FLOOD_SECONDS, talk } from './talk-figures.ts';

/** Above this share of its core the client may be what was measured. */
const BUSY_CLIENT_PERCENT = 80;
/** Below this share of its core something other than records held the pod up. */
const IDLE_POD_PERCENT = 70;

const COUNTS_NOTE =
  'The talk ran on another machine. Only npm run loadtest -- --ladder measures its baseline on this one, for ratios that mean something.';

/** 1,234,567 */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Bytes in millions. */
export function megabytes(bytes: number): string {
  return `${whole(bytes / 1e6)} MB`;
}

/** A ratio, with one decimal below 10. */
export function times(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(1) : whole(ratio)} ×`;
}

/** recv: records that the pod took from Kafka; send: messages that reached sockets. Both in the flood's window. */
export function countsTable({ flood, title, sockets }: StoryResult): Section {
  // One decimal below 100: the talk's pods took 4.0 records a minute.
  const perMinute = (rate: number) => (rate < 100 ? rate.toFixed(1) : whole(rate));
  const row = (name: string, seconds: number, { received, sent }: { received: number; sent: number }) => [
    ...[name, `${whole(seconds)} s`, whole(received), whole(sent)],
    ...[received, sent].map((count) => perMinute((count / seconds) * 60)),
    times(received / seconds / (talk.baseline.received / TALK_FLOOD_SECONDS)),
    times(sent / seconds / (talk.baseline.sent / TALK_FLOOD_SECONDS)),
  ];
  return {
    title: `Flood, ${whole(sockets)} sockets`,
    table: [
      ['', 'flood', 'recv', 'send', 'recv/min', 'send/min', 'recv vs. baseline', 'send vs. baseline'],
      row("the talk's baseline", TALK_FLOOD_SECONDS, talk.baseline),
      row("the talk's last counts (snake_case in place)", TALK_FLOOD_SECONDS, talk.inPlace),
      row(title, flood.durationMs / 1000, flood),
    ],
    note: COUNTS_NOTE,
  };
}

/** All tables, in the order of the report. */
export function tablesOf(result: StoryResult): Section[] {
  const { heap, title, openLoop } = result;
  const ofHeap = {
    title: 'Node.js max heap used',
    table: [
      ['', 'bare, max', 'idle, plateau', 'idle, max', 'flood, plateau', 'flood, max'],
      ["the talk's baseline", '', `${talk.baseline.idleMegabytes} MB`, '', '', 'over 1,000 MB'],
      ['the talk without locations', '', '', '', '', 'just under 1,000 MB'],
      ["the talk's end", '', `${talk.end.idleMegabytes} MB`, '', '', ''],
      [title, ...[heap.bareMax, heap.idlePlateau, heap.idleMax, heap.floodPlateau, heap.floodMax].map(megabytes)],
    ],
  };
  const bounds = openLoop?.bounds.map(({ name, value, limit, isKept }) => [
    name,
    value,
    limit,
    isKept ? 'kept' : 'MISSED',
  ]);
  return [
    countsTable(result),
    ofHeap,
    ...(bounds ? [{ title: 'Bounds of the flood', table: [['', 'measured', 'expected', ''], ...bounds] }] : []),
  ];
}

/** The verdict, then the facts that support it. */
export function remarks(result: StoryResult): string[] {
  const { faults, flood, sockets, clientCpuPercent, gcPercent, connectMs, producer } = result;
  const verdict =
    faults.length === 0
      ? `Reconciled: each of ${whole(flood.produced)} records reached each of ${whole(sockets)} sockets once, ` +
        `${whole(flood.delivered)} deliveries; the last one ${whole(flood.drainMs)} ms after the flood had stopped.`
      : `NOT reconciled: ${faults.join('; ')}.`;
  const client = `The client used ${whole(clientCpuPercent)} % of its core in the flood`;
  return [
    verdict,
    ...openLoopRemarks(result),
    clientCpuPercent > BUSY_CLIENT_PERCENT
      ? `WARNING: ${client}, more than ${BUSY_CLIENT_PERCENT} %: the client, not the pod, may be what was measured.`
      : `${client}: the client did not limit the result.`,
    podRemark(result),
    `Garbage collection took ${gcPercent.toFixed(1)} % of the pod's CPU time in the flood; connecting took ${whole(connectMs)} ms; ` +
      `the records were written by ${producer}.`,
  ];
}

function openLoopRemarks({ openLoop, flood, sockets }: StoryResult): string[] {
  if (!openLoop) return [];
  const missed = missedBounds(openLoop.bounds);
  const { pacePerSecond, writtenPerSecond, undelivered, inKafka, age } = openLoop;
  const rate = (flood.sent / flood.durationMs) * 1000;
  return [
    missed.length === 0 ? 'Every bound was kept.' : `NOT kept: ${missed.join('; ')}.`,
    `The writers wrote ${whole(writtenPerSecond)} records a second, ${times((writtenPerSecond * sockets) / rate)} the delivered rate. ` +
      `The sockets received ${whole(rate)} messages a second, and ${whole(pacePerSecond)} in the pace phase.`,
    `When the writers stopped, ${whole(undelivered)} records had not reached every socket; ${whole(inKafka)} of them were in Kafka.`,
    `From publish to the last socket: p50 ${whole(age.p50Ms)} ms, p99 ${whole(age.p99Ms)} ms, at most ${whole(age.maxMs)} ms ` +
      `(${whole(age.count)} records).`,
  ];
}

/** The flood always has work for the pod, so a low CPU share means that other processes used its core. */
function podRemark({ samples }: StoryResult): string {
  const inFlood = samples.filter(({ phase }) => phase === 'flood');
  const used = (sum(inFlood.map(({ cpuMs }) => cpuMs)) / sum(inFlood.map(({ durationMs }) => durationMs))) * 100;
  const remark = `The pod used ${whole(used)} % of a core in the flood`;
  return used < IDLE_POD_PERCENT
    ? `WARNING: ${remark}, though records were always waiting: Kafka, kcat or other programs kept the machine busy.`
    : `${remark}.`;
}

/** The progress line of one sample. */
export function sampleLine(sample: StorySample): string {
  const { phase, atMs, durationMs, gcMs, recordsConsumed, delivered, backlog } = sample;
  const share = (ms: number) => `${whole((ms / durationMs) * 100)} %`.padStart(5);
  return [
    phase.padEnd(5),
    `${whole(atMs / 1000)} s`.padStart(5),
    `heap ${megabytes(sample.heapUsedBytes).padStart(8)}`,
    `rss ${megabytes(sample.residentBytes).padStart(8)}`,
    `lag ${whole(sample.lagMs).padStart(5)} ms`,
    `gc ${share(sum(Object.values(gcMs)))}`,
    `cpu ${share(sample.cpuMs)}`,
    `recv ${whole(recordsConsumed)}`,
    `send ${whole(delivered)}`,
    ...(backlog
      ? [
          `Kafka ${whole(backlog.kafkaRecords)}`,
          `Redis ${megabytes(backlog.redisOutputBytes)}`,
          `queue ${megabytes(backlog.queueBytes)}`,
          `age ${whole(backlog.ageP50Ms)}/${whole(backlog.ageP99Ms)} ms`,
          `gaps ${whole(backlog.gaps)}`,
        ]
      : []),
  ].join('  ');
}
