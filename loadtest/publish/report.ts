import { mkdir, writeFile } from 'node:fs/promises';
import { barChart } from '../fanout/chart.ts';
import { conditionsList } from '../fanout/conditions.ts';
import type { Conditions } from '../fanout/conditions.ts';
import { RESULTS_FOLDER } from '../fanout/results.ts';
import { median } from '../median.ts';
import { sum } from '../processes/cpu-cost.ts';
import { markdownTable } from '../table.ts';
import type { Cells } from '../table.ts';
import type { PublishSample } from './publish-trial.ts';
import { TOPOLOGIES } from './redis-servers.ts';
import type { Topology } from './redis-servers.ts';

/** Medians of the rounds. */
export interface PublishRow {
  readonly topology: Topology;
  readonly recordsPerSecond: number;
  /** CPU time in ms of all Redis servers for 1,000 records. */
  readonly redisMs: number;
  /** CPU time in ms of the busiest server for 1,000 records. */
  readonly busiestMs: number;
  /** Share of a core that the busiest server used. */
  readonly busiestShare: number;
  /** Share of its core that the publishing and subscribing process used. */
  readonly ownShare: number;
  /** Throughput against a cluster of 1 shard: median of the rounds' own ratios. */
  readonly speedup: number;
  /** Records for each CPU-second of the busiest server, against a cluster of 1 shard: median of the rounds' own ratios. */
  readonly cpuSpeedup: number;
}

export interface PublishResults {
  readonly conditions: Conditions;
  readonly rows: readonly PublishRow[];
  readonly rounds: readonly (readonly PublishSample[])[];
}

export function publishRows(rounds: readonly (readonly PublishSample[])[]): PublishRow[] {
  return TOPOLOGIES.map((topology) => {
    const of = (wanted: Topology) => rounds.map((round) => round.find((sample) => sample.topology === wanted)!);
    const mine = of(topology);
    const reference = of('a cluster of 1 shard');
    const middle = (read: (sample: PublishSample, other: PublishSample) => number) =>
      median(mine.map((sample, round) => read(sample, reference[round]!)));
    return {
      topology,
      recordsPerSecond: middle(recordsPerSecond),
      redisMs: middle(({ redisCpuMs, records }) => (sum(redisCpuMs) / records) * 1000),
      busiestMs: middle((sample) => busiestMs(sample)),
      busiestShare: middle(({ redisCpuMs, durationMs }) => Math.max(...redisCpuMs) / durationMs),
      ownShare: middle(({ ownCpuMs, durationMs }) => ownCpuMs / durationMs),
      speedup: middle((sample, other) => recordsPerSecond(sample) / recordsPerSecond(other)),
      cpuSpeedup: middle((sample, other) => busiestMs(other) / busiestMs(sample)),
    };
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
      Math.round(row.recordsPerSecond).toLocaleString('en'),
      `${row.speedup.toFixed(2)} ×`,
      row.redisMs.toFixed(1),
      row.busiestMs.toFixed(1),
      `${row.cpuSpeedup.toFixed(2)} ×`,
      percent(row.busiestShare),
      percent(row.ownShare),
    ]),
  ];
}

/** Writes `<name>.json`, `.md` and `.svg`, and returns their paths. `verdict`: a sentence. */
export async function writePublishResults(name: string, results: PublishResults, verdict: string): Promise<string[]> {
  const files = {
    [`${RESULTS_FOLDER}/${name}.json`]: `${JSON.stringify(results, null, 2)}\n`,
    [`${RESULTS_FOLDER}/${name}.md`]: markdown(name, results, verdict),
    [`${RESULTS_FOLDER}/${name}.svg`]: picture(results),
  };
  await mkdir(RESULTS_FOLDER, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(path, text);
  return Object.keys(files);
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
      ({ recordsPerSecond }) => recordsPerSecond,
      (value) => Math.round(value).toLocaleString('en'),
    ),
    panel(
      'busiest server: CPU for 1,000 records, lower is better',
      ({ busiestMs }) => busiestMs,
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
