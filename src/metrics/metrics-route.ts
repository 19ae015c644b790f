import type { Registry } from 'prom-client';
import { sendBody } from '../http/route.ts';
import type { Route } from '../http/route.ts';

/** `/metrics`, for Prometheus. */
export function metricsRoute(registry: Registry): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response) => {
      sendBody(response, 200, registry.contentType, await registry.metrics());
    },
  };
}
