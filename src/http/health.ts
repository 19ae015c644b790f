import type { LoopLag } from './loop-lag.ts';
import { sendJson } from './route.ts';
import type { Route } from './route.ts';

export interface HealthOptions {
  readonly status: () => 'starting' | 'ready' | 'draining';
  /** Body of `/readyz` beside the status: missing topics, state of Kafka and Redis. Does not affect readiness. */
  readonly details: () => object;
  readonly lag: LoopLag;
  /** Event loop lag from which `/healthz` returns 503. Default 30,000 ms. */
  readonly maxLoopLagMs?: number;
}

/**
 * `/healthz` and `/readyz`. Neither depends on Kafka or Redis: all pods share them, so all pods would leave the load balancer at once.
 */
export function healthRoutes({ status, details, lag, maxLoopLagMs = 30_000 }: HealthOptions): [string, Route][] {
  const health: Route = {
    methods: ['GET'],
    handle: (_request, response) => {
      const loopLagMs = Math.round(lag.lagMs);
      const isAlive = loopLagMs < maxLoopLagMs;
      sendJson(response, isAlive ? 200 : 503, { status: isAlive ? 'alive' : 'stuck', loopLagMs });
    },
  };
  const readiness: Route = {
    methods: ['GET'],
    handle: (_request, response) => {
      const now = status();
      sendJson(response, now === 'ready' ? 200 : 503, { ...details(), status: now });
    },
  };
  return [
    ['/healthz', health],
    ['/readyz', readiness],
  ];
}
