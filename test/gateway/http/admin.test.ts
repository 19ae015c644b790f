import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { AdminServer } from '../../../src/gateway/http/admin.ts';
import { sendJson, sendText } from '../../../src/gateway/http/route.ts';
import type { Route } from '../../../src/gateway/http/route.ts';
import { startAdmin } from '../../support/admin.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';

const read: Route = { methods: ['GET'], handle: (_request, response) => sendJson(response, 200, { is: 'read' }) };
const change: Route = {
  methods: ['POST'],
  handle: (_request, response, url) => sendText(response, 200, url.searchParams.get('to') ?? 'nothing'),
};

describe('AdminServer', () => {
  it('answers public paths to anybody, and all others, known or not, only with the token', async (t) => {
    const token = 't'.repeat(32);
    const routes = [['/read', { ...read, isPublic: true }] as const, ['/change', change] as const];
    const { get } = await startAdmin(t, routes, { token });
    assert.equal((await get('/read')).status, 200);
    for (const [path, method] of [
      ['/change', 'POST'],
      ['/change', 'GET'],
      ['/else', 'GET'],
    ] as const) {
      const { status, text, challenge } = await get(path, method);
      assert.deepEqual([status, challenge], [401, 'Bearer']);
      assert.doesNotMatch(text, /\/change|t{32}/);
    }
    const authorization = `Bearer ${token}`;
    assert.equal((await get('/change', 'POST', { authorization })).status, 200);
    assert.equal((await get('/else', 'GET', { authorization })).status, 404);
    assert.equal((await get('/change', 'POST', { authorization, origin: 'https://evil.example' })).status, 403);
  });

  it('answers any other path with the list of paths, also of those added later', async (t) => {
    const routes = new Map([
      ['/read', read],
      ['/change', change],
    ]);
    const { get } = await startAdmin(t, [], { routes });
    const { status, type, text } = await get('/reads?x');
    assert.deepEqual(
      [status, type, text],
      [404, 'text/plain; charset=utf-8', 'not found; GraphQL is on PORT; there are /read, /change\n'],
    );
    routes.set('/later', read);
    assert.equal((await get('/reads')).text, 'not found; GraphQL is on PORT; there are /read, /change, /later\n');
    assert.equal((await get('/later')).status, 200);
  });

  it('answers another method with 405 and Allow', async (t) => {
    const { get } = await startAdmin(t, [
      ['/read', read],
      ['/change', change],
    ]);
    const refused = [await get('/read', 'POST'), await get('/change'), await get('/change', 'HEAD')];
    assert.deepEqual(
      refused.map(({ status, allow, text }) => [status, allow, text]),
      [
        [405, 'GET, HEAD', 'only GET, HEAD\n'],
        [405, 'POST', 'only POST\n'],
        [405, 'POST', ''],
      ],
    );
  });

  it('answers HEAD as GET without a body, and passes the query to the handler', async (t) => {
    const { get } = await startAdmin(t, [
      ['/read', read],
      ['/change', change],
    ]);
    const head = await get('/read', 'HEAD');
    assert.deepEqual([head.status, head.type, head.text], [200, 'application/json; charset=utf-8', '']);
    assert.equal((await get('/change?to=a%20b', 'POST')).text, 'a b');
  });

  it('refuses a POST that a web page sends', async (t) => {
    const { get } = await startAdmin(t, [['/change', change]]);
    const { status, text } = await get('/change?to=x', 'POST', { origin: 'https://evil.example' });
    assert.equal(status, 403);
    assert.match(text, /Origin/);
  });

  it("logs a handler's failure and answers 500 without internals; a reply that has begun is cut off", async (t) => {
    const lines: string[] = [];
    const { get } = await startAdmin(
      t,
      [
        [
          '/sync',
          {
            methods: ['GET'],
            handle: () => {
              throw new Error('secret 1');
            },
          },
        ],
        ['/async', { methods: ['GET'], handle: () => Promise.reject(new Error('secret 2')) }],
        [
          '/begun',
          {
            methods: ['GET'],
            handle: async (_request, response) => {
              await new Promise<void>((resolve) => response.write('a', () => resolve()));
              throw new Error('secret 3');
            },
          },
        ],
        ['/read', read],
      ],
      { logger: pino({ base: null }, { write: (line: string) => lines.push(line) }) },
    );
    for (const path of ['/sync', '/async']) {
      const { status, text } = await get(path);
      assert.deepEqual([status, text], [500, 'internal error; the log says more\n']);
    }
    await assert.rejects(get('/begun'));
    const logged = lines.map((line) => JSON.parse(line) as { requestPath: string; err: { message: string } });
    assert.deepEqual(
      logged.map(({ requestPath, err }) => [requestPath, err.message]),
      [
        ['/sync', 'secret 1'],
        ['/async', 'secret 2'],
        ['/begun', 'secret 3'],
      ],
    );
    assert.equal((await get('/read')).status, 200);
  });

  it('refuses a port that is in use, naming the variable', async (t) => {
    const { admin } = await startAdmin(t, []);
    await assert.rejects(startAdmin(t, [], { port: admin.port }), {
      code: 'ERR_SETUP',
      message: new RegExp(`^ADMIN_PORT: port ${admin.port} on 127.0.0.1 is in use; `),
    });
  });

  it('closes twice, before start, and with a request that never ends', async (t) => {
    const { admin } = await startAdmin(t, [['/read', read]]);
    const socket = connect(admin.port, '127.0.0.1').on('error', () => undefined);
    t.after(() => socket.destroy());
    await new Promise((resolve) => socket.write('GET /read HTTP/1.1\r\n', resolve));
    await Promise.all([admin.close(), admin.close()]);
    await assert.rejects(fetch(`http://127.0.0.1:${admin.port}/read`));
    const logger = pino({ level: 'silent' });
    const { signal: draining } = new AbortController();
    const names = ENVIRONMENT_NAMES;
    await new AdminServer({
      host: '127.0.0.1',
      port: 0,
      token: '',
      names,
      logger,
      draining,
      routes: new Map(),
    }).close();
  });
});
