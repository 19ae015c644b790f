import type { Write } from '../servers/write-gauge.ts';
import type { OthersReport } from './other-clients.ts';

/** From the publish of an event on, in ms. */
export interface OthersLatencies {
  readonly deliveries: number;
  /** To its arrival at a client. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** To the moment at which the gateway hands it to the kernel: without the time that the client's core took. */
  readonly writtenP99Ms: number;
}

export function othersLatencies(report: OthersReport, writes: readonly Write[]): OthersLatencies {
  const { latencies, publishedAt, firstVersion } = report;
  const written = writes.map(([version, atMs]) => atMs - publishedAt[version - firstVersion]!);
  return {
    deliveries: latencies.length,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    writtenP99Ms: percentile(written, 0.99),
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
}
