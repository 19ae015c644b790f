import { barChart } from '../fanout/chart.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { median } from '../median.ts';
import type { Cells } from '../table.ts';
import type { CoreSample } from './core-trial.ts';
import { WAYS } from './hot-channel.ts';
import type { HotChannelSample } from './hot-channel.ts';

export const CORES = 2;

export interface CoreRow {
  readonly outstanding: number;
  /** Of two processes. */
  readonly ofTwo: number;
  /** Deliveries for a second of CPU time, in one process and in two. */
  readonly one: number;
  readonly two: number;
  readonly speedup: number;
  /** Mean number of frames in a write to a socket, of one process and of two. */
  readonly frames: readonly [one: number, two: number];
  /** Share of the busiest process in the CPU time of two. */
  readonly busiest: number;
  /** Of the machine's cores, with two processes. */
  readonly machineBusy: number;
  /** Share of the client in that time. */
  readonly client: number;
}

/** @param outstanding of one process; `ofTwo`: of two */
export function rowOf(outstanding: number, ofTwo: number, rounds: readonly (readonly CoreSample[])[]): CoreRow {
  const pairs = rounds.map((round) => {
    const of = (processes: number, k: number) =>
      round.find((sample) => sample.processes === processes && sample.outstanding === k)!;
    return { one: of(1, outstanding), two: of(CORES, ofTwo) };
  });
  const middle = (read: (pair: (typeof pairs)[number]) => number) => median(pairs.map(read));
  return {
    outstanding,
    ofTwo,
    one: middle(({ one }) => perSecond(one, one.cpuMs)),
    two: middle(({ two }) => perSecond(two, two.cpuMs)),
    speedup: middle(({ one, two }) => throughputOf(two) / perSecond(one, one.cpuMs)),
    frames: [middle(({ one }) => one.framesPerWrite), middle(({ two }) => two.framesPerWrite)],
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
      'K of two',
      'one process, deliveries per CPU-second',
      'two processes',
      'two cores bring',
      'frames in a write, one process',
      'two',
      'busiest process',
      'machine busy',
      'client’s share',
    ],
    ...rows.map(({ outstanding, ofTwo, one, two, speedup, frames, busiest, machineBusy, client }) => [
      String(outstanding),
      String(ofTwo),
      ...[one, two].map((value) => Math.round(value).toLocaleString('en')),
      `${speedup.toFixed(2)} times`,
      ...frames.map((count) => count.toFixed(1)),
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
  const cores = rows.map(({ outstanding, ofTwo, one, two, speedup }) => ({
    title: `K=${outstanding}, of two ${ofTwo}: deliveries per CPU-second; two cores bring ${speedup.toFixed(2)} times`,
    bars: [
      { label: 'one process', value: one, isOurs: false },
      { label: 'two processes', value: two, isOurs: true },
    ].map((bar) => ({ ...bar, text: Math.round(bar.value).toLocaleString('en') })),
  }));
  const channels = [...new Set(rows.map(({ outstanding }) => outstanding))].map((burst) => ({
    title: `${burst} at once: CPU of a message that two processes receive, lower is better`,
    bars: WAYS.map((way) => {
      const { processes, redis } = channelUs(channel, way, burst);
      const value = processes + redis;
      return { label: way, value, text: `${value.toFixed(1)} µs`, isOurs: way === WAYS[0] };
    }),
  }));
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, ${conditions['cores']} cores; ${conditions['date']}`;
  return barChart('A second core: npm run bench:cores', note, [...cores, ...channels]);
}
