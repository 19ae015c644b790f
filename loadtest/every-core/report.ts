import { barChart } from '../fanout/chart.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { median } from '../median.ts';
import type { Cells } from '../table.ts';
import type { CoreSample } from './core-trial.ts';
import { WAYS } from './hot-channel.ts';
import type { HotChannelSample } from './hot-channel.ts';

const CORES = 2;

export interface CoreRow {
  readonly outstanding: number;
  /** Deliveries for a second of CPU time, in one process and in two. */
  readonly one: number;
  readonly two: number;
  readonly speedup: number;
  /** Share of the busiest process in the CPU time of two. */
  readonly busiest: number;
  /** Of the machine's cores, with two processes. */
  readonly machineBusy: number;
  /** Share of the client in that time. */
  readonly client: number;
}

export function rowOf(outstanding: number, rounds: readonly (readonly CoreSample[])[]): CoreRow {
  const pairs = rounds.map((round) => {
    const of = (processes: number) =>
      round.find((sample) => sample.processes === processes && sample.outstanding === outstanding)!;
    return { one: of(1), two: of(2) };
  });
  const middle = (read: (pair: (typeof pairs)[number]) => number) => median(pairs.map(read));
  return {
    outstanding,
    one: middle(({ one }) => perSecond(one, one.cpuMs)),
    two: middle(({ two }) => perSecond(two, two.cpuMs)),
    speedup: middle(({ one, two }) => throughputOf(two) / perSecond(one, one.cpuMs)),
    busiest: middle(({ two }) => two.busiestMs / two.cpuMs),
    machineBusy: middle(({ two }) => two.machineBusy),
    client: middle(({ two }) => two.clientCpuMs / (two.clientCpuMs + two.cpuMs)),
  };
}

/** Deliveries a second on two cores. */
function throughputOf(sample: CoreSample): number {
  return Math.min(CORES * perSecond(sample, sample.cpuMs), perSecond(sample, sample.busiestMs));
}

function perSecond({ deliveries }: CoreSample, ms: number): number {
  return (deliveries * 1000) / ms;
}

export function coreTable(rows: readonly CoreRow[]): Cells[] {
  return [
    [
      'K',
      'one process, deliveries per CPU-second',
      'two processes',
      'two cores bring',
      'busiest process',
      'machine busy',
      'client’s share',
    ],
    ...rows.map(({ outstanding, one, two, speedup, busiest, machineBusy, client }) => [
      String(outstanding),
      ...[one, two].map((value) => Math.round(value).toLocaleString('en')),
      `${speedup.toFixed(2)} times`,
      ...[busiest, machineBusy, client].map((share) => `${Math.round(share * 100)} %`),
    ]),
  ];
}

export function channelTable(samples: readonly HotChannelSample[], bursts: readonly number[]): Cells[] {
  const rows = bursts.flatMap((burst) =>
    WAYS.map((way) => {
      const { processes, redis } = channelUs(samples, way, burst);
      return [way, String(burst), ...[processes, redis, processes + redis].map((us) => us.toFixed(1))];
    }),
  );
  return [['received by', 'messages at once', 'both processes', 'Redis', 'together'], ...rows];
}

/** Medians of the rounds. */
function channelUs(samples: readonly HotChannelSample[], way: HotChannelSample['way'], burst: number) {
  const own = samples.filter((sample) => sample.way === way && sample.burst === burst);
  return { processes: median(own.map((one) => one.processesUs)), redis: median(own.map((one) => one.redisUs)) };
}

/** For each K: what one process and two bring, and what a message of the hot channel costs. */
export function corePicture(
  rows: readonly CoreRow[],
  channel: readonly HotChannelSample[],
  conditions: Conditions,
): string {
  const panels = rows.flatMap(({ outstanding, one, two, speedup }) => {
    const processes = [
      { label: 'one process', value: one, isOurs: false },
      { label: 'two processes', value: two, isOurs: true },
    ];
    return [
      {
        title: `${outstanding} in flight: deliveries per CPU-second; two cores bring ${speedup.toFixed(2)} times one`,
        bars: processes.map((bar) => ({ ...bar, text: Math.round(bar.value).toLocaleString('en') })),
      },
      {
        title: `${outstanding} at once: CPU of a message that two processes receive, lower is better`,
        bars: WAYS.map((way) => {
          const { processes: us, redis } = channelUs(channel, way, outstanding);
          const value = us + redis;
          return { label: way, value, text: `${value.toFixed(1)} µs`, isOurs: way === WAYS[0] };
        }),
      },
    ];
  });
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, ${conditions['cores']} cores; ${conditions['date']}`;
  return barChart('A second core: npm run bench:cores', note, panels);
}
