import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';
import { SetupError } from '../../../src/base/errors.ts';
import { closeAfterReplies, endServer, listen } from '../../../src/gateway/http/listening.ts';
import { waitFor } from '../../support/wait-for.ts';

const ADDRESS = { host: '127.0.0.1', port: 0, variable: 'PORT', names: ENVIRONMENT_NAMES } as const;

/** Opens this number of connections. Prints the number of open ones when all are open, or after 20 s. */
const CROWD = `
const [port, wanted] = process.argv.slice(1).map(Number);
let connected = 0;
const end = () => (process.stdout.write(String(connected)), process.exit());
setTimeout(end, 20_000);
for (let i = 0; i < wanted; i++) {
  const socket = require('node:net').connect(port, '127.0.0.1', () => ++connected === wanted && end());
  socket.on('error', () => undefined);
}`;

const LISTENING = pathToFileURL(join(process.cwd(), 'dist', 'src', 'gateway', 'http', 'listening.js')).href;

/** Opens as many files as it may, tries to listen, and prints the refusal. */
const EXHAUSTED = `
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import { listen } from '${LISTENING}';
try {
  for (;;) openSync('/dev/null');
} catch {
  const refusal = await listen(createServer(), { host: '127.0.0.1', port: 0, variable: 'PORT', names: { PORT: 'PORT' } }).catch((error) => error);
  process.stdout.write(refusal.message);
}`;

/** A server that leaves every request to the test; `responses` in the order of their requests. */
async function startServer(t: TestContext) {
  const responses: ServerResponse[] = [];
  const server = createServer((_, response) => responses.push(response));
  const port = await listen(server, ADDRESS);
  t.after(() => endServer(server, 0));
  return { server, port, responses, url: `http://127.0.0.1:${port}/` };
}

describe('listen', () => {
  it('names the setting whose port is taken', async (t) => {
    const { port } = await startServer(t);
    await assert.rejects(listen(createServer(), { ...ADDRESS, port }), (error) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, new RegExp(`^PORT: port ${port} on 127.0.0.1 is in use`));
      return true;
    });
  });

  it('names the setting whose host is no address of this machine', async () => {
    await assert.rejects(listen(createServer(), { ...ADDRESS, host: '192.0.2.1' }), (error) => {
      assert.ok(error instanceof SetupError);
      assert.match(error.message, /^HOST: expected an address of this machine, got "192\.0\.2\.1" \(.* EADDRNOTAVAIL/);
      return true;
    });
  });

  it('names the reason, and not the host, where the process has no file descriptor left', () => {
    // `exec`: the limit is of the shell, and of Node in its place.
    const words = ['-c', 'ulimit -n 64 && exec "$0" --input-type=module -e "$1"', process.execPath, EXHAUSTED];
    const message = execFileSync('sh', words, { encoding: 'utf8' });
    assert.match(message, /^PORT: port 0 on 127\.0\.0\.1 cannot be listened on: listen EMFILE: /);
  });

  it('queues a connection storm while the event loop is busy, so no client retries seconds later', async (t) => {
    const { port } = await startServer(t);
    const crowd = Math.min(1500, Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')));
    // The server's event loop is blocked until all connections of the storm are open.
    const connected = execFileSync(process.execPath, ['-e', CROWD, String(port), String(crowd)], { encoding: 'utf8' });
    assert.equal(Number(connected), crowd);
  });
});

describe('closeAfterReplies', () => {
  /** `Connection` of the replies to a request before and a request after the drain has begun, both answered after that. */
  async function connectionsOf(t: TestContext, prepare: (server: Server, draining: AbortSignal) => void) {
    const { server, responses, url } = await startServer(t);
    const draining = new AbortController();
    prepare(server, draining.signal);
    const answers = [fetch(url)];
    await waitFor('the first request', () => responses.length === 1);
    draining.abort();
    answers.push(fetch(url));
    await waitFor('the second request', () => responses.length === 2);
    for (const response of responses) response.writeHead(200, { 'content-type': 'text/plain' }).end();
    return Promise.all(answers.map(async (answer) => (await answer).headers.get('connection')));
  }

  it('closes connections after replies once the pod drains, also after replies to earlier requests (twin: they are kept)', async (t) => {
    assert.deepEqual(await connectionsOf(t, closeAfterReplies), ['close', 'close']);
    assert.deepEqual(await connectionsOf(t, () => undefined), ['keep-alive', 'keep-alive']);
  });

  it('leaves replies alone before the drain, and one whose head is sent', async (t) => {
    const { server, responses, url } = await startServer(t);
    const draining = new AbortController();
    closeAfterReplies(server, draining.signal);
    const answer = fetch(url);
    await waitFor('the request', () => responses.length === 1);
    responses[0]!.writeHead(200).write('a');
    draining.abort();
    responses[0]!.end('b');
    const response = await answer;
    assert.deepEqual([response.headers.get('connection'), await response.text()], ['keep-alive', 'ab']);
  });
});

describe('endServer', () => {
  it('waits for replies in flight, and not for idle keep-alive connections', async (t) => {
    const { server, responses, url } = await startServer(t);
    const answers = [fetch(url), fetch(url)].map(async (response) => (await response).text());
    await waitFor('the requests', () => responses.length === 2);
    let hasEnded = false;
    const ended = endServer(server, 60_000).then(() => (hasEnded = true));
    await assert.rejects(fetch(url));
    assert.equal(hasEnded, false);
    for (const response of responses) response.end('done');
    assert.deepEqual(await Promise.all(answers), ['done', 'done']);
    await ended;
  });

  it('closes connections whose replies take longer than the grace', async (t) => {
    const { server, responses, url } = await startServer(t);
    const cut = assert.rejects(fetch(url));
    await waitFor('the request', () => responses.length === 1);
    await endServer(server, 50);
    await cut;
  });

  it('ends a server that never listened', async () => {
    await endServer(createServer(), 60_000);
  });
});
