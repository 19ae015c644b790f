import type { IncomingMessage, ServerResponse } from 'node:http';
import { AdminAccess } from '../../gateway/http/admin-access.ts';
import { sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';

/**
 * The dashboard beside the graph's page, in development: answers a GET or HEAD of one of the routes and returns true; false for every other request.
 * @param token ADMIN_TOKEN; '': none is needed, where the Host header is one that no web page of others can have
 */
export function developmentLive(
  routes: ReadonlyMap<string, Route>,
  token: string,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const access = new AdminAccess(token);
  return (request, response) => {
    const { method, url = '' } = request;
    const route = method === 'GET' || method === 'HEAD' ? routes.get(url.split('?', 1)[0]!) : undefined;
    if (!route) return false;
    const refusal = route.isPublic ? undefined : access.refusal(request);
    if (refusal) {
      sendText(response, refusal.status, refusal.text);
      return true;
    }
    const answer = async () => route.handle(request, response, new URL(url, 'http://live'));
    answer().catch((error: Error) => response.destroy(error));
    return true;
  };
}
