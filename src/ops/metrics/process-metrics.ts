import { performance } from 'node:perf_hooks';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { readVersion } from '../../base/version.ts';
import type { Metrics } from './metrics.ts';

/** Metrics of the process beside prom-client's own. */
export function observeProcess(metrics: Metrics, role: string): void {
  const labels = { version: readVersion(), role, node_version: process.version };
  metrics.gauges(
    'crier_build_info',
    'Always 1; the labels name the build and what it runs as.',
    ['version', 'role', 'node_version'],
    () => [{ labels, value: 1 }],
    'process',
  );
  let last: EventLoopUtilization | undefined;
  metrics.gauge(
    'crier_event_loop_utilization_ratio',
    'Share of the time since the previous scrape in which the event loop was not idle, from 0 to 1.',
    () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = last ? performance.eventLoopUtilization(now, last) : now;
      last = now;
      return utilization;
    },
    'process',
  );
}
