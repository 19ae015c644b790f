import { barChart } from '../fanout/chart.ts';
import type { Bar, Panel } from '../fanout/chart.ts';
import type { Conditions } from '../fanout/conditions.ts';
import type { AvalancheResult } from './avalanche.ts';
import type { JitterResult } from './jitter.ts';
import { avalancheFigures, deployOf, duration, jitterFigures } from './report.ts';
import { THEIR_AVALANCHE, THEIR_JITTER } from './theirs.ts';
import type { AvalancheFigures, JitterFigures } from './theirs.ts';

export function jitterPicture(results: readonly JitterResult[], conditions: Conditions): string {
  const all = [...results.map(jitterFigures), ...THEIR_JITTER];
  const panel = (
    title: string,
    valueOf: (figures: JitterFigures) => number,
    text: (value: number) => string,
  ): Panel => ({
    title,
    bars: all.map((figures, i) => {
      const value = valueOf(figures);
      return { label: figures.server, value, text: text(value), isOurs: i < results.length };
    }),
  });
  const percent = (value: number) => `${value.toFixed(2)} %`;
  return barChart('Jitter: each connection ends every 15 s', noteOf(conditions), [
    panel('delivered', ({ deliveredPercent }) => deliveredPercent, percent),
    panel('latency of what was delivered: p50', ({ p50Ms }) => p50Ms, duration),
    panel('p95', ({ p95Ms }) => p95Ms, duration),
    panel('p99', ({ p99Ms }) => p99Ms, duration),
  ]);
}

export function avalanchePicture(results: readonly AvalancheResult[], conditions: Conditions): string {
  const bar = (label: string, ms: number | undefined, isOurs: boolean): Bar => ({
    label,
    value: ms ?? 0,
    text: ms === undefined ? 'nobody was away' : duration(ms),
    isOurs,
  });
  const all = [...results.map(avalancheFigures), ...THEIR_AVALANCHE];
  const panel = (title: string, valueOf: (figures: AvalancheFigures) => number | undefined): Panel => ({
    title,
    bars: all.map((figures, i) => bar(figures.deploy, valueOf(figures), i < results.length)),
  });
  const gateways = results.filter(({ deployed }) => deployed === 'gateway');
  return barChart('Avalanche: a deploy under connected clients (seconds: DRAIN_SPREAD_MS)', noteOf(conditions), [
    panel('half of the disconnected clients were back after', ({ halfBackMs }) => halfBackMs),
    panel('95 % of them were back after', ({ mostBackMs }) => mostBackMs),
    {
      title: 'longest time that a client of crier was away',
      bars: gateways.map((result) => bar(deployOf(result), result.report.longestAwayMs, true)),
    },
    {
      title: 'CPU time until all were back: the new gateway (blue), the clients',
      bars: gateways.flatMap((result) => [
        bar(deployOf(result), result.podCpuMs, true),
        bar(`clients, ${result.spreadMs / 1000} s, ${result.kind}`, result.clientCpuMs, false),
      ]),
    },
  ]);
}

function noteOf({ node, cpu, cores, date }: Conditions): string {
  return `crier: Node ${node}, ${cpu}, ${cores} cores, ${date}. The others: published by AnyCable, on 32 cores.`;
}
