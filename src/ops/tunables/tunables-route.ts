import { sendJson } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import type { Tunables } from './tunables.ts';

/** `/debug/tunables`. */
export function tunablesRoute(tunables: Tunables): Route {
  return { methods: ['GET'], handle: (_request, response) => sendJson(response, 200, tunables.report()) };
}
