import type { LoopLag } from './loop-lag.ts';
import { sendJson } from './route.ts';
import type { Route } from './route.ts';

export interface HealthOptions {
  readonly status: () => 'starting' | 'ready' | 'draining';
  /** Why the pod must not receive new connections although it has started; empty: it may. */
  readonly unreadyReasons: () => readonly string[];
  /** Body of `/readyz` beside the status: missing topics, state of Kafka and Redis. Does not affect readiness. */
  readonly details: () => object;
  readonly lag: LoopLag;
  /** Event loop lag from which `/healthz` returns 503. Default 30,000 ms. */
  readonly maxLoopLagMs?: number;
}

/**
 * `/healthz`, `/readyz` and `/startupz`. None fails because Kafka or Redis is away: all pods share them, so all pods would leave the load
 * balancer at once, or be restarted at once.
 */
export function healthRoutes(options: HealthOptions): [string, Route][] {
  const { status, unreadyReasons, details, lag, maxLoopLagMs = 30_000 } = options;
  const health: Route = {
    methods: ['GET'],
    isPublic: true,
    handle: (_request, response) => {
      const loopLagMs = Math.round(lag.lagMs);
      const isAlive = loopLagMs < maxLoopLagMs;
      sendJson(response, isAlive ? 200 : 503, { status: isAlive ? 'alive' : 'stuck', loopLagMs });
    },
  };
  const readiness: Route = {
    methods: ['GET'],
    isPublic: true,
    handle: (_request, response) => {
      const now = status();
      const reasons = now === 'ready' ? unreadyReasons() : [];
      if (reasons.length > 0) return sendJson(response, 503, { ...details(), reasons, status: 'overloaded' });
      sendJson(response, now === 'ready' ? 200 : 503, { ...details(), status: now });
    },
  };
  const startup: Route = {
    methods: ['GET'],
    isPublic: true,
    handle: (_request, response) => {
      const isStarted = status() !== 'starting';
      sendJson(response, isStarted ? 200 : 503, { status: isStarted ? 'started' : 'starting' });
    },
  };
  return [
    ['/healthz', health],
    ['/readyz', readiness],
    ['/startupz', startup],
  ];
}
