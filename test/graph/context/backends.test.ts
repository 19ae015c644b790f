import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { freePorts } from '../../../stack/port.ts';
import { Backends } from '../../../src/graph/context/backends.ts';
import type { BackendAnswer, BackendPressure } from '../../../src/graph/context/backends.ts';
import { waitFor } from '../../support/wait-for.ts';
import { backendServer, backendsAt, failsWith, hungBackend } from './backend-server.ts';

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

describe('backends', () => {
  it('send and receive JSON under the base path', async (t) => {
    const url = await backendServer(t, (request, response) => {
      void bodyOf(request).then((body) => {
        const { method, url, headers } = request;
        response.end(JSON.stringify({ method, url, body, type: headers['content-type'], own: headers['x-own'] }));
      });
    });
    for (const base of [`${url}/api/v1`, `${url}/api/v1/`]) {
      const { send } = backendsAt(t, base);
      assert.deepEqual(await send('/batch?a=1', { method: 'POST', body: '{"ids":[1]}', headers: { 'X-Own': 'yes' } }), {
        method: 'POST',
        url: '/api/v1/batch?a=1',
        body: '{"ids":[1]}',
        type: 'application/json',
        own: 'yes',
      });
      assert.deepEqual(await send('/7'), { method: 'GET', url: '/api/v1/7', body: '' });
    }
  });

  it('forward those headers of the caller that the backend is configured to get, unless the graph sets them', async (t) => {
    const url = await backendServer(t, (request, response) => {
      const { authorization, 'x-region': region, cookie } = request.headers;
      response.end(JSON.stringify({ authorization, region, cookie }));
    });
    const asked: string[] = [];
    const callerHeader = (name: string) => {
      asked.push(name);
      return `caller's ${name}`;
    };
    assert.deepEqual(await backendsAt(t, url).send('/', { callerHeader }), {});
    assert.deepEqual(asked, []);
    const forwarding = backendsAt(t, url, { forwardedHeaders: ['authorization', 'x-region'] });
    const forwarded = { authorization: "caller's authorization", region: "caller's x-region" };
    assert.deepEqual(await forwarding.send('/', { callerHeader }), forwarded);
    assert.deepEqual(asked, ['authorization', 'x-region']);
    assert.deepEqual(await forwarding.send('/', { callerHeader: () => undefined }), {});
    assert.deepEqual(await forwarding.send('/', { callerHeader, headers: { 'X-Region': "graph's" } }), {
      ...forwarded,
      region: "graph's",
    });
  });

  it('return null for a GET with status 404 and for an empty response, and fail on 404 for other methods', async (t) => {
    const url = await backendServer(t, (request, response) => {
      response.statusCode = request.url === '/empty' ? 204 : 404;
      response.end();
    });
    const { send, answers } = backendsAt(t, url);
    assert.equal(await send('/gone'), null);
    assert.equal(await send('/empty', { method: 'DELETE' }), null);
    await failsWith('BACKEND_ERROR', send('/gone', { method: 'POST', body: '{}' }), { status: 404 });
    assert.deepEqual(
      answers.map(({ outcome, status }) => [outcome, status]),
      [
        ['OK', 404],
        ['OK', 204],
        ['BACKEND_ERROR', 404],
      ],
    );
  });

  it('turn a failing status into an error with that status and without the body', async (t) => {
    const url = await backendServer(t, (request, response) => {
      response.statusCode = Number(request.url!.slice(1));
      response.setHeader('location', 'http://secret.example/');
      response.end('"secret: pg://user:pass@db"');
    });
    const { send, answers } = backendsAt(t, url);
    const statuses = [300, 302, 400, 401, 500, 503];
    for (const status of statuses) {
      const error = await failsWith('BACKEND_ERROR', send(`/${status}`), { status });
      assert.equal(error.message, 'A backend answered with an error');
    }
    assert.deepEqual(
      answers.map(({ outcome, status }) => [outcome, status]),
      statuses.map((status) => ['BACKEND_ERROR', status]),
    );
    const texts = answers.map(({ reason, backend }) => `${backend} ${reason}`);
    assert.doesNotMatch(JSON.stringify(texts), /secret|127/);
    assert.equal(await send('/299'), 'secret: pg://user:pass@db');
  });

  it('keep all digits of the integers in a response', async (t) => {
    const url = await backendServer(t, (_request, response) => response.end('{"id":9007199254740993,"n":[1.5,7]}'));
    assert.deepEqual(await backendsAt(t, url).send('/'), { id: '9007199254740993', n: [1.5, 7] });
  });

  it('turn a response that is not JSON into an error', async (t) => {
    const url = await backendServer(t, (_request, response) => response.end('<h1>secret</h1>'));
    await failsWith('BACKEND_ERROR', backendsAt(t, url).send('/'), { status: 200 });
  });

  it('stop reading a response that is too large, with and without a Content-Length', async (t) => {
    let written = 0;
    const url = await backendServer(t, (request, response) => {
      const chunk = '"'.padEnd(65_536, 'x');
      if (request.url === '/announced') response.setHeader('content-length', 1024 * 65_536);
      const pump = () => {
        while (!response.destroyed && written < 1024 * 65_536) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', pump);
        }
        response.end();
      };
      response.on('error', () => undefined);
      pump();
    });
    const { send } = backendsAt(t, url, { maxResponseBytes: 100_000 });
    for (const path of ['/announced', '/chunked']) {
      written = 0;
      await failsWith('BACKEND_ERROR', send(path));
      assert.ok(written < 512 * 65_536, `${written} bytes were taken`);
    }
  });

  it('give up after the timeout: without headers, inside the body, and for a body that drips', async (t) => {
    const url = await backendServer(t, (request, response) => {
      if (request.url === '/silent') return;
      response.write('[');
      if (request.url === '/stuck') return;
      const drip = setInterval(() => response.write('1,'), 20);
      response.on('close', () => clearInterval(drip));
    });
    const { send, answers } = backendsAt(t, url, { timeoutMs: 150 });
    for (const path of ['/silent', '/stuck', '/dripping']) await failsWith('BACKEND_TIMEOUT', send(path));
    for (const { reason } of answers) assert.match(reason!, /^no answer within \d+ ms$/);
  });

  it('count the wait for a free socket as part of the timeout', async (t) => {
    const timeoutMs = 400;
    const url = await backendServer(t, () => undefined);
    const { send, answers } = backendsAt(t, url, { timeoutMs, maxSockets: () => 1 });
    const startedAt = performance.now();
    await Promise.all([send('/'), send('/')].map((sending) => failsWith('BACKEND_TIMEOUT', sending)));
    const [one, other] = answers.map(({ durationMs }) => durationMs);
    assert.ok(one! <= performance.now() - startedAt, `${one} ms`);
    assert.ok(Math.abs(one! - other!) < timeoutMs / 2, `${one} and ${other} ms: one has waited for the other`);
  });

  it('use no more sockets than allowed', async (t) => {
    const sockets = new Set<unknown>();
    const url = await backendServer(t, (request, response) => {
      sockets.add(request.socket);
      setImmediate(() => response.end('1'));
    });
    const { send } = backendsAt(t, url, { maxSockets: () => 2 });
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => send('/'))), Array<number>(20).fill(1));
    assert.equal(sockets.size, 2);
  });

  it('refuse a request at once while too many wait, until some have ended', async (t) => {
    const url = await backendServer(t, () => undefined);
    const { send } = backendsAt(t, url, { timeoutMs: 300, maxSockets: () => 1, maxPendingPerSocket: 2 });
    for (let round = 0; round < 2; round++) {
      const waiting = [send('/'), send('/')].map((sending) => failsWith('BACKEND_TIMEOUT', sending));
      await failsWith('BACKEND_UNAVAILABLE', send('/'));
      await Promise.all(waiting);
    }
  });

  it('answer requests to a backend while the queue of another one is full', async (t) => {
    const { url: slow, requests } = await hungBackend(t);
    const fast = await backendServer(t, (_request, response) => response.end('1'));
    const backends = new Backends({
      backends: new Map(
        Object.entries({ SLOW: slow, FAST: fast }).map(([name, url]) => [name, { url, forwardedHeaders: [] }]),
      ),
      maxSockets: () => 2,
      timeoutMs: 60_000,
    });
    t.after(() => backends.close());
    const send = (name: string) =>
      backends.send(name, { method: 'GET', path: '/', callerHeader: () => undefined }).catch((error: unknown) => error);
    const filling = Array.from({ length: 200 }, () => send('slow'));
    await waitFor('the slow backend', () => requests() === 2);
    assert.match(String(await send('slow')), /A backend is not available/);
    assert.deepEqual(
      await Promise.all(Array.from({ length: 20 }, () => send('fast'))),
      Array(20).fill({ status: 200, text: '1', body: 1 }),
    );
    const [[, { inFlight, waiting }]] = [...backends.pressure()] as [[string, BackendPressure]];
    assert.deepEqual([inFlight, waiting, filling.length], [2, 198, 200]);
  });

  it('let 100 requests wait per socket and accept responses of 8 MiB by default', async (t) => {
    const url = await backendServer(t, (request, response) => {
      if (request.url !== '/waits') response.end(`"${'x'.repeat(Number(request.url!.slice(1)) - 2)}"`);
    });
    const { send } = backendsAt(t, url, { maxSockets: () => 2 });
    const most = 8 * 1024 * 1024;
    assert.equal(((await send(`/${most}`)) as string).length, most - 2);
    await failsWith('BACKEND_ERROR', send(`/${most + 1}`));
    const hasty = backendsAt(t, url, { maxSockets: () => 2, timeoutMs: 500 });
    const waiting = Array.from({ length: 200 }, () => failsWith('BACKEND_TIMEOUT', hasty.send('/waits')));
    await failsWith('BACKEND_UNAVAILABLE', hasty.send('/waits'));
    await Promise.all(waiting);
  });

  it('keep sockets open between requests', async (t) => {
    const sockets = new Set<unknown>();
    const url = await backendServer(t, (request, response) => {
      sockets.add(request.socket);
      response.statusCode = request.url === '/bad' ? 500 : 200;
      response.end('{}');
    });
    const { send } = backendsAt(t, url, { maxSockets: () => 1 });
    for (let i = 0; i < 5; i++) await send('/');
    await failsWith('BACKEND_ERROR', send('/bad'), { status: 500 });
    await send('/');
    assert.equal(sockets.size, 1);
  });

  it('read the body of an error response, so that its socket is reused, or close the socket if the body is too long', async (t) => {
    const sockets = new Set<unknown>();
    const url = await backendServer(t, (request, response) => {
      sockets.add(request.socket);
      response.statusCode = request.url === '/' ? 200 : 500;
      response.end(request.url === '/' ? '{}' : 'x'.repeat(Number(request.url!.slice(1))));
    });
    const { send } = backendsAt(t, url, { maxSockets: () => 1 });
    for (const [bytes, count] of [
      [60_000, 1],
      [1_000_000, 2],
    ]) {
      await failsWith('BACKEND_ERROR', send(`/${bytes}`), { status: 500 });
      await send('/');
      assert.equal(sockets.size, count, `${bytes} bytes`);
    }
  });

  it('fail with BACKEND_UNAVAILABLE while a backend is down, and succeed after its recovery', async (t) => {
    const [port] = await freePorts(1);
    const { send, answers } = backendsAt(t, `http://127.0.0.1:${port}`);
    await failsWith('BACKEND_UNAVAILABLE', send('/'));
    assert.equal(answers[0]!.reason, 'ECONNREFUSED');
    const server = createServer((_request, response) => response.end('1'));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    t.after(() => server.close());
    assert.equal(await waitFor('an answer', () => send('/').catch(() => undefined)), 1);
  });

  it('fail with BACKEND_UNAVAILABLE when the connection breaks inside a response', async (t) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"secret":'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { send } = backendsAt(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await failsWith('BACKEND_UNAVAILABLE', send('/'));
  });

  it('name the variable that is not set in the log and not to the client', async () => {
    const answers: BackendAnswer[] = [];
    const onAnswer = (answer: BackendAnswer) => void answers.push(answer);
    const backends = new Backends({ backends: new Map(), maxSockets: () => 1, timeoutMs: 100, observer: { onAnswer } });
    const sending = backends.send('mlIntegrator', { method: 'GET', path: '/', callerHeader: () => undefined });
    await assert.rejects(sending, { message: 'A backend is not configured', backend: 'mlIntegrator' });
    assert.equal(answers[0]!.outcome, 'BACKEND_NOT_CONFIGURED');
    assert.equal(answers[0]!.reason, 'BACKEND_ML_INTEGRATOR_URL is not set');
  });

  it('throw TypeError for a request that cannot be made', async (t) => {
    let requests = 0;
    const url = await backendServer(t, (_request, response) => {
      requests++;
      response.end('{}');
    });
    const { send, answers } = backendsAt(t, url);
    await assert.rejects(send('/../admin'), TypeError);
    await assert.rejects(send('//evil.example/'), TypeError);
    await assert.rejects(send('/', { headers: { 'x-a': 'b\r\nx-c: d' } }), TypeError);
    assert.equal(requests, 0);
    assert.equal(answers.length, 0);
  });

  it('refuse a base URL with credentials or a query at start, without showing it', () => {
    for (const url of ['http://hidden@h/', 'http://:hidden@h/', 'http://h/?hidden', 'http://h/#hidden']) {
      const config = new Map([['VENUE', { url, forwardedHeaders: [] }]]);
      assert.throws(
        () => new Backends({ backends: config, maxSockets: () => 1, timeoutMs: 1 }),
        (error: Error) =>
          /BACKEND_VENUE_URL: expected a URL without/.test(error.message) && !/hidden/.test(error.message),
      );
    }
  });

  it('close after the requests in flight, at most a timeout later, and refuse new requests', async (t) => {
    const arrived = new Map<string, ServerResponse>();
    const url = await backendServer(t, (request, response) => void arrived.set(request.url!, response));
    const { backends, send } = backendsAt(t, url);
    const hasty = backendsAt(t, url, { timeoutMs: 400 });
    const slow = send('/slow');
    const never = failsWith('BACKEND_TIMEOUT', hasty.send('/never'));
    await waitFor('the request', () => arrived.has('/slow'));
    const closing = backends.close();
    assert.equal(backends.close(), closing);
    await failsWith('BACKEND_UNAVAILABLE', send('/late'));
    arrived.get('/slow')!.end('"done"');
    assert.equal(await slow, 'done');
    await Promise.all([closing, hasty.backends.close()]);
    await never;
    const unused = backendsAt(t, url);
    await unused.backends.close();
    await failsWith('BACKEND_UNAVAILABLE', unused.send('/late'));
    assert.ok(!arrived.has('/late'));
  });

  it('abort requests that have not ended a second after close, and leave no timer', async (t) => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const url = await backendServer(t, (request, response) => void (request.url === '/' && response.end('1')));
    const { backends, send, answers } = backendsAt(t, url, { maxSockets: () => 1 });
    await send('/');
    assert.equal(timers(), before);
    const never = [send('/never'), send('/waits')].map((sending) => failsWith('BACKEND_UNAVAILABLE', sending));
    await backends.close();
    await Promise.all(never);
    assert.deepEqual(
      answers.map(({ reason }) => reason),
      [undefined, 'UND_ERR_DESTROYED', 'UND_ERR_DESTROYED'],
    );
    assert.equal(timers(), before);
  });
});
