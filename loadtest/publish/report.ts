import { barChart } from '../fanout/chart.ts';
import { conditionsList } from '../fanout/conditions.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { sum } from '../processes/cpu-cost.ts';
import { writeResult } from '../result-files.ts';
import { spreadsOf } from '../spread.ts';
import type { Spread } from '../spread.ts';
import { markdownTable } from '../table.ts';
import type { Cells } from '../table.ts';
import type { PublishSample } from './publish-trial.ts';
import { TOPOLOGIES } from './redis-servers.ts';
import type { Topology } from './redis-servers.ts';

/** Spread of the rounds. */
export interface PublishRow {
  readonly topology: Topology;
  readonly rounds: number;
  readonly recordsPerSecond: Spread;
  /** CPU time in ms of all Redis servers for 1,000 records. */
  readonly redisMs: Spread;
  /** CPU time in ms of the busiest server for 1,000 records. */
  readonly busiestMs: Spread;
  /** Share of a core that the busiest server used. */
  readonly busiestShare: Spread;
  /** Share of its core that the publishing and subscribing process used. */
  readonly ownShare: Spread;
  /** Throughput against a cluster of 1 shard in the same round. */
  readonly speedup: Spread;
  /** Records for each CPU-second of the busiest server, against a cluster of 1 shard in the same round. */
  readonly cpuSpeedup: Spread;
}

export interface PublishResults {
  readonly conditions: Conditions;
  readonly rows: readonly PublishRow[];
}

export function publishRows(rounds: readonly (readonly PublishSample[])[]): PublishRow[] {
  return TOPOLOGIES.map((topology) => {
    const of = (wanted: Topology) => rounds.map((round) => round.find((sample) => sample.topology === wanted)!);
    const mine = of(topology);
    const reference = of('a cluster of 1 shard');
    const figures = spreadsOf(mine, {
      recordsPerSecond,
      redisMs: ({ redisCpuMs, records }) => (sum(redisCpuMs) / records) * 1000,
      busiestMs,
      busiestShare: ({ redisCpuMs, durationMs }) => Math.max(...redisCpuMs) / durationMs,
      ownShare: ({ ownCpuMs, durationMs }) => ownCpuMs / durationMs,
      speedup: (sample, round) => recordsPerSecond(sample) / recordsPerSecond(reference[round]!),
      cpuSpeedup: (sample, round) => busiestMs(reference[round]!) / busiestMs(sample),
    });
    return { topology, rounds: mine.length, ...figures };
  });
}

export function publishTable(rows: readonly PublishRow[]): Cells[] {
  return [
    [
      'Redis',
      'records/s',
      '× 1 shard',
      'Redis CPU ms/1,000',
      'busiest server',
      '× 1 shard',
      'busiest server busy',
      'publisher busy',
    ],
    ...rows.map((row) => [
      row.topology,
      Math.round(row.recordsPerSecond.median).toLocaleString('en'),
      `${row.speedup.median.toFixed(2)} ×`,
      row.redisMs.median.toFixed(1),
      row.busiestMs.median.toFixed(1),
      `${row.cpuSpeedup.median.toFixed(2)} ×`,
      percent(row.busiestShare.median),
      percent(row.ownShare.median),
    ]),
  ];
}

/** Writes `<name>.json`, `.md` and `.svg`, and returns their paths. `verdict`: a sentence. */
export function writePublishResults(name: string, results: PublishResults, verdict: string): Promise<string[]> {
  return writeResult(name, results, { md: markdown(name, results, verdict), svg: picture(results) });
}

function markdown(name: string, { conditions, rows }: PublishResults, verdict: string): string {
  return `# Results: ${name}

Medians of the rounds; each ratio is the median of the rounds' own ratios. The busiest server's CPU time is that for 1,000 records of the
whole topology; its ratio is what 3 shards publish for a CPU-second of their busiest server, against 1 shard. Busy: shares of a core.

${markdownTable(publishTable(rows))}
${verdict}

## Conditions

${conditionsList(conditions)}
![The same as a picture](${name}.svg)
`;
}

function picture({ conditions, rows }: PublishResults): string {
  const panel = (title: string, valueOf: (row: PublishRow) => number, textOf: (value: number) => string) => ({
    title,
    bars: rows.map((row) => ({
      label: row.topology,
      value: valueOf(row),
      text: textOf(valueOf(row)),
      isOurs: row.topology === 'a cluster of 3 shards',
    })),
  });
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, each Redis server with ${conditions['quota']}; ${conditions['date']}`;
  return barChart('Publishing on Redis: npm run bench:publish', note, [
    panel(
      'records per second',
      ({ recordsPerSecond }) => recordsPerSecond.median,
      (value) => Math.round(value).toLocaleString('en'),
    ),
    panel(
      'busiest server: CPU for 1,000 records, lower is better',
      ({ busiestMs }) => busiestMs.median,
      (value) => `${value.toFixed(1)} ms`,
    ),
  ]);
}

function recordsPerSecond({ records, durationMs }: PublishSample): number {
  return (records * 1000) / durationMs;
}

/** For 1,000 records. */
function busiestMs({ redisCpuMs, records }: PublishSample): number {
  return (Math.max(...redisCpuMs) / records) * 1000;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
