import type { Registry, RegistryContentType } from 'prom-client';
import { sendBody } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { contentTypeFor, expose } from './exposition.ts';

/** `/metrics`, for Prometheus: OpenMetrics with exemplars for a scraper that accepts it, else the text format. */
export function metricsRoute(registry: Registry<RegistryContentType>): Route {
  return {
    methods: ['GET'],
    isPublic: true,
    handle: async ({ headers }, response) => {
      const contentType = contentTypeFor(headers.accept);
      const text = await expose(registry, contentType);
      response.setHeader('vary', 'accept');
      sendBody(response, 200, contentType, text);
    },
  };
}
