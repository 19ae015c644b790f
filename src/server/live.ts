import type { OperationTallies } from '../graph/documents/operation-tallies.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { LiveEndpoint } from '../ops/live/live-endpoint.ts';
import { livePageRoutes } from '../ops/live/live-page.ts';
import { MetricValues } from '../ops/live/metric-values.ts';
import { StatsReader } from '../ops/live/stats-reader.ts';
import { StatsSampler } from '../ops/live/stats-sampler.ts';
import type { Stats } from '../ops/live/stats.ts';
import type { LoopLag } from '../gateway/http/loop-lag.ts';
import { LogWindow } from '../base/log.ts';
import { processName } from '../config/pod-name.ts';
import { readVersion } from '../base/version.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Readiness } from './readiness.ts';
import type { Live, RoleServices } from './services.ts';

export interface LiveOptions extends Pick<RoleServices, 'config' | 'log' | 'metrics'> {
  readonly graph: Graph;
  readonly lifecycle: Lifecycle;
  readonly readiness: Readiness;
  readonly lag: LoopLag;
  readonly tallies: OperationTallies;
}

const LOG_WINDOW_MS = 10_000;

/** Opens the dashboard. It is closed before what was registered earlier: the admin port, whose close waits for its streams. */
export function openLive({ config, log, metrics, graph, lifecycle, readiness, lag, tallies }: LiveOptions): Live {
  const pod = processName(config);
  const reader = new StatsReader({
    metrics: new MetricValues(metrics.registry),
    identity: { pod, role: config.ROLE, version: readVersion(), graph: graph.name },
    status: () => statusOf(lifecycle, readiness),
    loopLagMs: () => lag.lagMs,
    tallies,
  });
  const window = new LogWindow(LOG_WINDOW_MS);
  const sampler = lifecycle.register(
    new StatsSampler(reader, (error) =>
      window.run('', (suppressed) => log.error({ err: error, suppressed }, 'the figures of /live could not be read')),
    ),
  );
  const endpoint = new LiveEndpoint({
    sampler,
    pod,
    lookUp: async (name, left) => (await live.lookUp?.(name, left)) ?? null,
  });
  const routes = new Map([...livePageRoutes(), ['/live/graphql', endpoint.route]]);
  const live: Live = { routes, close: () => sampler.close() };
  return live;
}

function statusOf({ status }: Lifecycle, { unreadyReasons, read }: Readiness): Pick<Stats, 'status' | 'problems'> {
  const reasons = status === 'ready' ? unreadyReasons() : [];
  return { status: reasons.length > 0 ? 'overloaded' : status, problems: problemsOf(reasons, read()) };
}

/** What `/readyz` says, for people: one line for each thing that is wrong around the pod. @param details by name */
function problemsOf(reasons: readonly string[], details: Readonly<Record<string, unknown>>): string[] {
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
