import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { AdminServer } from '../../src/gateway/http/admin.ts';
import type { AdminOptions } from '../../src/gateway/http/admin.ts';
import type { Route } from '../../src/gateway/http/route.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';

/** An admin server with these routes, on a free port of the loopback address. */
export async function startAdmin(
  t: TestContext,
  routes: Iterable<readonly [string, Route]>,
  overrides: Partial<AdminOptions> = {},
) {
  const logger = pino({ level: 'silent' });
  const { signal: draining } = new AbortController();
  const admin = new AdminServer({
    host: '127.0.0.1',
    port: 0,
    token: '',
    names: ENVIRONMENT_NAMES,
    logger,
    draining,
    routes: new Map(routes),
    ...overrides,
  });
  t.after(() => admin.close());
  await admin.start();
  const get = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, { method, headers });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      allow: response.headers.get('allow'),
      challenge: response.headers.get('www-authenticate'),
      text: await response.text(),
    };
  };
  return { admin, get };
}
