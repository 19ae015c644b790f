import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { RegistryRequests } from '../../../src/kafka/decoding/registry-requests.ts';
import { ENVIRONMENT_NAMES } from '../../../src/config/setting-names.ts';
import type { RegistryAccess } from '../../../src/kafka/decoding/registry-requests.ts';
import { createCertificate } from '../../support/certificate.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const NOT_FOUND = '{"error_code":40403,"message":"Schema not found"}';

/** What a process of its own receives from each URL: the answer or the message of the error. Node reads its authorities once. */
async function inProcess(environment: NodeJS.ProcessEnv, urls: readonly string[]): Promise<string[]> {
  const program = `
    const { RegistryRequests } = await import(process.argv[1]);
    const names = { SCHEMA_REGISTRY_URL: 'SCHEMA_REGISTRY_URL' };
    const answers = process.argv.slice(2).map(async (url) => {
      const requests = new RegistryRequests({ urls: [url], timeoutMs: 5000, names });
      try { return await requests.get('/x'); } catch ({ message }) { return message; } finally { await requests.close(); }
    });
    console.log(JSON.stringify(await Promise.all(answers)));`;
  const module = import.meta.resolve('../../../src/kafka/decoding/registry-requests.js');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program, '--', module, ...urls],
    { env: { ...process.env, ...environment } },
  );
  return JSON.parse(stdout) as string[];
}

function serve(t: TestContext, listener: RequestListener): Promise<string> {
  return listen(t, createServer(listener));
}

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function requestsTo(t: TestContext, urls: readonly string[], access: Partial<RegistryAccess> = {}): RegistryRequests {
  const requests = new RegistryRequests({
    urls,
    timeoutMs: 2000,
    names: ENVIRONMENT_NAMES,
    ...access,
  });
  t.after(() => requests.close());
  return requests;
}

describe('RegistryRequests', () => {
  it('sends the credentials of the URL', async (t) => {
    const url = await serve(t, ({ headers }, response) => response.end(JSON.stringify(headers.authorization ?? null)));
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    const inUrl = url.replace('//', '//ann:p%40s:s@');
    assert.equal(await requestsTo(t, [inUrl]).get('/x'), basic('ann:p@s:s'));
    assert.equal(await requestsTo(t, [url.replace('//', '//:key@')]).get('/x'), basic(':key'));
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

  it('says that a registry has no GUIDs', async (t) => {
    // As Karapace, Apicurio, and Confluent's before version 8.
    const url = await serve(t, (_request, response) =>
      response.writeHead(404).end('{"error_code":404,"message":"HTTP 404 Not Found"}'),
    );
    const path = '/schemas/guids/89791762-2336-4186-9674-299b90a802e2';
    await assert.rejects(
      requestsTo(t, [url]).get(path),
      /has no schemas by GUID \(status 404\).*write its schema's id/,
    );
  });

  it('reads texts of the own API of an Apicurio, and nothing of one that it does not know', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      if (path === '/apis/registry/v2/ids/globalIds/1') response.end('syntax = "proto3";');
      else response.writeHead(404).end('{"error_code":404,"name":"ArtifactNotFoundException"}');
    });
    assert.equal(requestsTo(t, [url]).isApicurio, false);
    const requests = requestsTo(t, [`${url}/apis/ccompat/v7/`]);
    assert.equal(requests.isApicurio, true);
    assert.equal(await requests.getText('/ids/globalIds/1'), 'syntax = "proto3";');
    assert.equal(await requests.getText('/ids/globalIds/2'), undefined);
  });

  it('never shows credentials in an error', async (t) => {
    const url = await serve(t, (_request, response) => response.writeHead(401).end('{}'));
    const secret = url.replace('//', '//ann:hunter2@');
    await assert.rejects(requestsTo(t, [`${secret}/v7`]).get('/x'), ({ message }: Error) => {
      assert.match(message, /refuses the credentials \(status 401\); correct user and password of SCHEMA_REGISTRY_URL/);
      assert.doesNotMatch(message, /hunter2|ann/);
      return true;
    });
  });

  it('fails after the timeout, and for an answer that is too large (S-101)', async (t) => {
    const silent = await serve(t, () => undefined);
    await assert.rejects(requestsTo(t, [silent], { timeoutMs: 100 }).get('/x'), /has not answered \/x within 100 ms/);
    const trickling = await serve(t, (_request, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    await assert.rejects(
      requestsTo(t, [trickling], { timeoutMs: 200 }).get('/x'),
      /has not answered \/x within 200 ms/,
    );
    const huge = await serve(t, (_request, response) => response.end(JSON.stringify('x'.repeat(5_000_000))));
    await assert.rejects(requestsTo(t, [huge]).get('/x'), {
      name: 'UnusableSchemaError',
      message: `the schema registry ${huge} answers /x with more than 4194304 bytes`,
    });
  });

  it('waits if the answer that is too large is no schema', async (t) => {
    const page = await serve(t, (_request, response) => response.writeHead(503).end('x'.repeat(5_000_000)));
    await assert.rejects(requestsTo(t, [page]).get('/x'), { code: 'ERR_SCHEMA_UNAVAILABLE' });
  });

  it('names the path, and the message of the registry', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      const message = path === '/long' ? 'x'.repeat(1000) : 'Error in the \u001b[31mbackend';
      response.writeHead(500).end(JSON.stringify({ error_code: 50001, message }));
    });
    await assert.rejects(requestsTo(t, [url]).get('/schemas/ids/7'), {
      message: `the schema registry ${url} answers /schemas/ids/7 with status 500: "Error in the \\u001b[31mbackend"`,
    });
    await assert.rejects(requestsTo(t, [url]).get('/long'), /with status 500: "x{200}"$/);
  });

  it('asks the next URL if one does not answer', async (t) => {
    const broken = await serve(t, (_request, response) => response.writeHead(503).end());
    const working = await serve(t, (_request, response) => response.end('1'));
    assert.equal(await requestsTo(t, [broken, 'http://127.0.0.1:1', working]).get('/x'), 1);
  });

  it('asks for a path not again during the pause after its failure, and goes on after it', async (t) => {
    let count = 0;
    let isBroken = true;
    const url = await serve(t, (_request, response) => {
      count++;
      response.writeHead(isBroken ? 500 : 200).end('1');
    });
    const requests = requestsTo(t, [url]);
    for (let i = 0; i < 100; i++) await assert.rejects(requests.get('/x'), /answers \/x with status 500/);
    assert.ok(count < 10, `${count} requests`);
    isBroken = false;
    await waitFor('an answer', () =>
      requests.get('/x').then(
        () => true,
        () => false,
      ),
    );
  });

  it('asks for other paths during the pause of a path that fails alone', async (t) => {
    const url = await serve(t, ({ url: path }, response) => {
      response.writeHead(path === '/1' ? 500 : 200).end('1');
    });
    const requests = requestsTo(t, [url]);
    for (let i = 0; i < 10; i++) {
      await assert.rejects(requests.get('/1'), /answers \/1 with status 500/);
      assert.equal(await requests.get('/2'), 1);
    }
  });

  it('uses TLS, trusts the authorities in NODE_EXTRA_CA_CERTS, and names a setting without them', async (t) => {
    const folder = await temporaryFolder(t);
    const { keystore, certificate } = await createCertificate(folder, 'registry', 'secret');
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, certificate);
    const options = { pfx: await readFile(keystore), passphrase: 'secret' };
    const url = await listen(
      t,
      createTlsServer(options, (_request, response) => response.end('"encrypted"')),
    );
    const secure = url.replace('http:', 'https:');
    await assert.rejects(requestsTo(t, [secure]).get('/x'), {
      message: `the schema registry ${secure} cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT; if the authority of this certificate is your own, name the PEM file of the authority in SCHEMA_REGISTRY_TLS_CA_FILE`,
    });
    const wrongName = secure.replace('127.0.0.1', 'localhost');
    const answers = await inProcess({ NODE_EXTRA_CA_CERTS: authority }, [secure, wrongName]);
    assert.equal(answers[0], 'encrypted');
    assert.match(answers[1]!, /; name the registry in SCHEMA_REGISTRY_URL as the certificate does$/);
  });

  it('does not follow a redirection (S-101)', async (t) => {
    const target = await serve(t, (_request, response) => response.end('1'));
    const url = await serve(t, (_request, response) => response.writeHead(302, { location: target }).end());
    await assert.rejects(requestsTo(t, [url]).get('/x'), /answers like no schema registry \(status 302\)/);
  });
});
