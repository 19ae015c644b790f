import type { OperationTallies } from '../graph/documents/operation-tallies.ts';
import type { Graph } from '../graph/graph.ts';
import { LiveEndpoint } from '../ops/live/live-endpoint.ts';
import { livePageRoutes } from '../ops/live/live-page.ts';
import { MetricValues } from '../ops/live/metric-values.ts';
import { StatsReader } from '../ops/live/stats-reader.ts';
import { StatsSampler } from '../ops/live/stats-sampler.ts';
import type { Stats } from '../ops/live/stats.ts';
import { LogWindow } from '../base/log.ts';
import { processName } from '../config/pod-name.ts';
import { readVersion } from '../base/version.ts';
import type { Live, RoleServices } from './services.ts';

export interface LiveOptions extends Pick<RoleServices, 'config' | 'log' | 'metrics' | 'register'> {
  readonly graph: Graph;
  readonly status: () => Pick<Stats, 'status' | 'problems'>;
  readonly loopLagMs: () => number;
  readonly tallies: () => OperationTallies | undefined;
}

const LOG_WINDOW_MS = 10_000;

/** Opens the dashboard. It is closed before what was registered earlier: the admin port, whose close waits for its streams. */
export function openLive(options: LiveOptions): Live {
  const { config, log, metrics, graph, register, ...sources } = options;
  const pod = processName(config);
  const reader = new StatsReader({
    metrics: new MetricValues(metrics.registry),
    identity: { pod, role: config.ROLE, version: readVersion(), graph: graph.name },
    ...sources,
  });
  const window = new LogWindow(LOG_WINDOW_MS);
  const sampler = register(
    new StatsSampler(reader, (error) =>
      window.run('', (suppressed) => log.error({ err: error, suppressed }, 'the figures of /live could not be read')),
    ),
  );
  const routes = new Map([...livePageRoutes(), ['/live/graphql', new LiveEndpoint({ sampler, pod }).route]]);
  return { routes, close: () => sampler.close() };
}

/** What `/readyz` says, for people: one line for each thing that is wrong around the pod. @param details by name */
export function problemsOf(reasons: readonly string[], details: Readonly<Record<string, unknown>>): string[] {
  const overloads = reasons.map((reason) => `overloaded: ${reason}`);
  const around = Object.entries(details).flatMap(([name, value]) => {
    const label = name.replaceAll('_', ' ');
    if (value === 'away') return [`${label}: away`];
    return Array.isArray(value) && value.length > 0 ? [`${label}: ${value.map(textOf).join(', ')}`] : [];
  });
  return [...overloads, ...around];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
