import type { Registry, RegistryContentType } from 'prom-client';
import { sendBody } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { packFamilies, readFamilies } from './metric-families.ts';

/** Of the admin port of a process of a pod. */
export const METRICS_PATH = '/process/metrics';

/** The metrics of this process, for the process that started it. */
export function familiesRoute(registry: Registry<RegistryContentType>): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response) =>
      sendBody(response, 200, 'application/octet-stream', packFamilies(await readFamilies(registry))),
  };
}
