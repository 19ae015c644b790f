import { barChart } from '../fanout/chart.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { spreadsOf } from '../spread.ts';
import type { Spread } from '../spread.ts';
import type { Cells } from '../table.ts';
import type { CoreSample } from './core-trial.ts';
import { WAYS } from './hot-channel.ts';
import type { HotChannelSample, Way } from './hot-channel.ts';

export const CORES = 2;

/** Spread of the rounds. */
export interface CoreRow {
  readonly outstanding: number;
  /** Of two processes. */
  readonly ofTwo: number;
  readonly rounds: number;
  /** Deliveries for a second of CPU time, in one process and in two. */
  readonly one: Spread;
  readonly two: Spread;
  readonly speedup: Spread;
  /** Mean number of frames in a write to a socket, of one process and of two. */
  readonly framesOfOne: Spread;
  readonly framesOfTwo: Spread;
  /** Share of the busiest process in the CPU time of two. */
  readonly busiest: Spread;
  /** Of the machine's cores, with two processes. */
  readonly machineBusy: Spread;
  /** Share of the client in that time. */
  readonly client: Spread;
}

/** CPU time in µs for a message of the hot channel: spread of the rounds. */
export interface ChannelRow {
  readonly way: Way;
  readonly burst: number;
  readonly rounds: number;
  readonly processes: Spread;
  readonly redis: Spread;
}

/** @param outstanding of one process; `ofTwo`: of two */
export function rowOf(outstanding: number, ofTwo: number, rounds: readonly (readonly CoreSample[])[]): CoreRow {
  const pairs = rounds.map((round) => {
    const of = (processes: number, k: number) =>
      round.find((sample) => sample.processes === processes && sample.outstanding === k)!;
    return { one: of(1, outstanding), two: of(CORES, ofTwo) };
  });
  const figures = spreadsOf(pairs, {
    one: ({ one }) => perSecond(one, one.cpuMs),
    two: ({ two }) => perSecond(two, two.cpuMs),
    speedup: ({ one, two }) => throughputOf(two) / perSecond(one, one.cpuMs),
    framesOfOne: ({ one }) => one.framesPerWrite,
    framesOfTwo: ({ two }) => two.framesPerWrite,
    busiest: ({ two }) => two.busiestMs / two.cpuMs,
    machineBusy: ({ two }) => two.machineBusy,
    client: ({ two }) => two.clientCpuMs / (two.clientCpuMs + two.cpuMs),
  });
  return { outstanding, ofTwo, rounds: rounds.length, ...figures };
}

/** A row for each way and number of messages at once. */
export function channelRows(samples: readonly HotChannelSample[], bursts: readonly number[]): ChannelRow[] {
  return bursts.flatMap((burst) =>
    WAYS.map((way) => {
      const own = samples.filter((sample) => sample.way === way && sample.burst === burst);
      const figures = spreadsOf(own, {
        processes: ({ processesUs }) => processesUs,
        redis: ({ redisUs }) => redisUs,
      });
      return { way, burst, rounds: own.length, ...figures };
    }),
  );
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
    ...rows.map(({ outstanding, ofTwo, one, two, speedup, framesOfOne, framesOfTwo, busiest, machineBusy, client }) => [
      String(outstanding),
      String(ofTwo),
      ...[one, two].map(({ median }) => Math.round(median).toLocaleString('en')),
      `${speedup.median.toFixed(2)} times`,
      ...[framesOfOne, framesOfTwo].map(({ median }) => median.toFixed(1)),
      ...[busiest, machineBusy, client].map(({ median }) => `${Math.round(median * 100)} %`),
    ]),
  ];
}

export function channelTable(rows: readonly ChannelRow[]): Cells[] {
  return [
    ['received by', 'messages at once', 'both processes', 'Redis', 'together'],
    ...rows.map(({ way, burst, processes, redis }) => {
      const us = [processes.median, redis.median, processes.median + redis.median];
      return [way, String(burst), ...us.map((one) => one.toFixed(1))];
    }),
  ];
}

/** For each K: what one process and two bring, and what a message of the hot channel costs. */
export function corePicture(rows: readonly CoreRow[], channel: readonly ChannelRow[], conditions: Conditions): string {
  const cores = rows.map(({ outstanding, ofTwo, one, two, speedup }) => ({
    title: `K=${outstanding}, of two ${ofTwo}: deliveries per CPU-second; two cores bring ${speedup.median.toFixed(2)} times`,
    bars: [
      { label: 'one process', value: one.median, isOurs: false },
      { label: 'two processes', value: two.median, isOurs: true },
    ].map((bar) => ({ ...bar, text: Math.round(bar.value).toLocaleString('en') })),
  }));
  const channels = [...new Set(rows.map(({ outstanding }) => outstanding))].map((burst) => ({
    title: `${burst} at once: CPU of a message that two processes receive, lower is better`,
    bars: channel
      .filter((row) => row.burst === burst)
      .map(({ way, processes, redis }) => {
        const value = processes.median + redis.median;
        return { label: way, value, text: `${value.toFixed(1)} µs`, isOurs: way === WAYS[0] };
      }),
  }));
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, ${conditions['cores']} cores; ${conditions['date']}`;
  return barChart('A second core: npm run bench:cores', note, [...cores, ...channels]);
}
