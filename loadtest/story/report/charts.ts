import type { BacklogSample, StoryResult, StorySample } from '../result.ts';
import { whole } from './figure-text.ts';
import { stackedCharts, timeChart } from './time-chart.ts';

const BACKLOG_HEIGHT = 240;

/** Heap, RSS and external memory over time. */
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

/** The heap chart and, below it on the same time axis, the backlog in Kafka. */
export function storyPicture(result: StoryResult): string {
  const heap = heapChart(result);
  return result.openLoop ? stackedCharts([heap, backlogChart(result)]) : heap;
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

export function openLoopCharts({ phases, samples }: StoryResult): string[] {
  const common = { phases, height: BACKLOG_HEIGHT };
  return [
    timeChart({
      ...common,
      title: 'Bytes buffered after Kafka, largest of the second',
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

export function detailCharts({ phases, samples }: StoryResult): string[] {
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
