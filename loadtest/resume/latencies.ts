import type { Write } from '../servers/write-gauge.ts';
import type { OthersReport } from './other-clients.ts';

/** Latencies of the other clients, counted from the publish of an event. */
export interface OthersLatencies {
  readonly deliveries: number;
  /** Until its arrival at a client. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Until the gateway hands the result to the kernel, which excludes waits on the client's core. */
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
