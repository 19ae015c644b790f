import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { RegistryRequests } from '../../../src/kafka/decoding/registry-requests.ts';
import type { RegistryAccess } from '../../../src/kafka/decoding/registry-requests.ts';
import { waitFor } from '../../support/wait-for.ts';

const NOT_FOUND = '{"error_code":40403,"message":"Schema not found"}';

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function requestsTo(t: TestContext, urls: readonly string[], access: Partial<RegistryAccess> = {}): RegistryRequests {
  const requests = new RegistryRequests({ urls, user: '', password: '', timeoutMs: 2000, ...access });
  t.after(() => requests.close());
  return requests;
}

describe('RegistryRequests', () => {
  it('sends the credentials of the settings, or of the URL', async (t) => {
    const url = await serve(t, ({ headers }, response) => response.end(JSON.stringify(headers.authorization ?? null)));
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    assert.equal(await requestsTo(t, [url], { user: 'ann', password: 's3:ret' }).get('/x'), basic('ann:s3:ret'));
    const inUrl = url.replace('//', '//ann:p%40ss@');
    assert.equal(await requestsTo(t, [inUrl]).get('/x'), basic('ann:p@ss'));
    assert.equal(await requestsTo(t, [url]).get('/x'), null);
  });

  it('keeps the path of the URL', async (t) => {
    const url = await serve(t, (request, response) => response.end(JSON.stringify(request.url)));
    assert.equal(await requestsTo(t, [`${url}/apis/v7/`]).get('/schemas/ids/1'), '/apis/v7/schemas/ids/1');
  });

  it('resolves with undefined only if a registry says that it has no such thing', async (t) => {
    const registry = await serve(t, (_request, response) => response.writeHead(404).end(NOT_FOUND));
    assert.equal(await requestsTo(t, [registry]).get('/schemas/ids/1'), undefined);
    const website = await serve(t, (_request, response) => response.writeHead(404).end('<html>'));
    await assert.rejects(requestsTo(t, [website]).get('/schemas/ids/1'), {
      code: 'ERR_SCHEMA_UNAVAILABLE',
      message: `the schema registry ${website} answers like no schema registry (status 404); correct SCHEMA_REGISTRY_URL: Apicurio's ends in /apis/ccompat/v7`,
    });
  });

  it('never shows credentials in an error', async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(401).end('{}'));
    const secret = url.replace('//', '//ann:hunter2@');
    await assert.rejects(requestsTo(t, [`${secret}/v7`]).get('/x'), ({ message }: Error) => {
      assert.match(message, /refuses the credentials \(status 401\); correct SCHEMA_REGISTRY_USER and/);
      assert.doesNotMatch(message, /hunter2|ann/);
      return true;
    });
  });

  it('fails after the timeout, and for an answer that is too large', async (t) => {
    const silent = await serve(t, () => undefined);
    await assert.rejects(requestsTo(t, [silent], { timeoutMs: 100 }).get('/x'), /has not answered within 100 ms/);
    const trickling = await serve(t, (_request, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    await assert.rejects(requestsTo(t, [trickling], { timeoutMs: 200 }).get('/x'), /has not answered within 200 ms/);
    const huge = await serve(t, (_request, response) => response.end(JSON.stringify('x'.repeat(5_000_000))));
    await assert.rejects(requestsTo(t, [huge]).get('/x'), /answers with more than 4194304 bytes/);
  });

  it('asks the next URL if one does not answer', async (t) => {
    const broken = await serve(t, (_request, response) => response.writeHead(503).end());
    const working = await serve(t, (_request, response) => response.end('1'));
    assert.equal(await requestsTo(t, [broken, 'http://127.0.0.1:1', working]).get('/x'), 1);
  });

  it('sends nothing during the pause after a failure, and goes on after it', async (t) => {
    let count = 0;
    let isBroken = true;
    const url = await serve(t, (_request, response) => {
      count++;
      response.writeHead(isBroken ? 500 : 200).end('1');
    });
    const requests = requestsTo(t, [url]);
    for (let i = 0; i < 100; i++) await assert.rejects(requests.get('/x'), /answers with status 500/);
    assert.ok(count < 10, `${count} requests`);
    isBroken = false;
    await waitFor('an answer', () =>
      requests.get('/x').then(
        () => true,
        () => false,
      ),
    );
  });

  it('does not follow a redirection', async (t) => {
    const target = await serve(t, (_request, response) => response.end('1'));
    const url = await serve(t, (_request, response) => response.writeHead(302, { location: target }).end());
    await assert.rejects(requestsTo(t, [url]).get('/x'), /answers like no schema registry \(status 302\)/);
  });
});
