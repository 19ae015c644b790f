import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { SetupError } from '../../src/errors.ts';
import { endServer, listen } from '../../src/http/listening.ts';
import { waitFor } from '../support/wait-for.ts';

const ADDRESS = { host: '127.0.0.1', port: 0, variable: 'PORT' };

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
});

describe('endServer', () => {
  it('lets the answers under way end, and does not wait for connections that are kept alive', async (t) => {
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

  it('cuts what takes longer than the grace', async (t) => {
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
