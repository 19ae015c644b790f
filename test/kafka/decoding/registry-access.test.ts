import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createAuthority, issue } from '../../../stack/certificates.ts';
import type { KeyPair } from '../../../stack/certificates.ts';
import { readConfig } from '../../../src/config/config.ts';
import { openRegistryRequests } from '../../../src/kafka/decoding/registry-access.ts';
import type { RegistryRequests } from '../../../src/kafka/decoding/registry-requests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';

const UNAUTHORIZED = '{"error_code":401,"message":"Unauthorized"}';

/** Answers as Confluent Cloud does: without what `isGranted` wants, with status 401. */
const guarded =
  (isGranted: (headers: IncomingHttpHeaders) => boolean): RequestListener =>
  ({ headers }, response) => {
    if (isGranted(headers)) response.end('["AVRO","JSON","PROTOBUF"]');
    else response.writeHead(401).end(UNAUTHORIZED);
  };

async function listen(t: TestContext, server: Server, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${scheme}://localhost:${(server.address() as AddressInfo).port}`;
}

async function requestsTo(t: TestContext, url: string, settings: Readonly<Record<string, string>>) {
  const config = readConfig({ SCHEMA_REGISTRY_URL: url, ...settings });
  const requests = await openRegistryRequests(config, readableLog().log);
  t.after(() => requests.close());
  return requests;
}

const types = (requests: RegistryRequests) => requests.get('/schemas/types');

describe('access to the schema registry', () => {
  it('sends a token of the provider and further headers, and waits with the status while they are refused', async (t) => {
    const file = join(await temporaryFolder(t), 'token.mjs');
    await writeFile(file, 'export default () => ({ value: `token-${globalThis.registryToken}` });');
    const global = globalThis as { registryToken?: number };
    t.after(() => delete global.registryToken);
    const wanted = {
      authorization: 'Bearer token-2',
      'confluent-identity-pool-id': 'pool-1',
      'target-sr-cluster': 'a=b',
    };
    const isGranted = (headers: IncomingHttpHeaders) =>
      Object.entries(wanted).every(([name, value]) => headers[name] === value);
    const url = await listen(t, createServer(guarded(isGranted)));
    const requests = await requestsTo(t, url, {
      SCHEMA_REGISTRY_TOKEN_PROVIDER: file,
      SCHEMA_REGISTRY_HEADERS: 'Confluent-Identity-Pool-Id=pool-1, target-sr-cluster=a=b',
    });
    global.registryToken = 1;
    await assert.rejects(types(requests), {
      code: 'ERR_SCHEMA_UNAVAILABLE',
      message: `the schema registry ${url} refuses the token (status 401); correct SCHEMA_REGISTRY_TOKEN_PROVIDER, or the rights of its identity`,
    });
    global.registryToken = 2;
    await waitFor('the next token', () => types(requests).then(Array.isArray, () => false));
  });

  it('names the provider that fails, and one that cannot be loaded', async (t) => {
    const file = join(await temporaryFolder(t), 'token.mjs');
    await writeFile(file, 'export default () => { throw new Error("no metadata"); };');
    const url = await listen(t, createServer(guarded(() => true)));
    await assert.rejects(types(await requestsTo(t, url, { SCHEMA_REGISTRY_TOKEN_PROVIDER: file })), {
      code: 'ERR_SCHEMA_UNAVAILABLE',
      message: `the schema registry ${url} is not asked: the token provider failed: no metadata; correct SCHEMA_REGISTRY_TOKEN_PROVIDER`,
    });
    await assert.rejects(requestsTo(t, url, { SCHEMA_REGISTRY_TOKEN_PROVIDER: `${file}.none` }), {
      name: 'ConfigError',
      message: /^SCHEMA_REGISTRY_TOKEN_PROVIDER: expected a module .* but it cannot be loaded/,
    });
  });

  describe('over TLS', () => {
    let authority: KeyPair;
    let server: KeyPair;
    let client: KeyPair;
    before(async () => {
      authority = await createAuthority();
      server = await issue(authority, ['localhost']);
      client = await issue(authority, ['crier']);
    });

    async function tlsRegistry(t: TestContext) {
      const folder = await temporaryFolder(t);
      const write = async (name: string, text: string) => {
        const path = join(folder, name);
        await writeFile(path, text);
        return path;
      };
      const options = { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true };
      const url = await listen(
        t,
        createTlsServer(
          options,
          guarded(() => true),
        ),
        'https',
      );
      return { url, write };
    }

    it('trusts an authority of its own, and shows a client certificate', async (t) => {
      const { url, write } = await tlsRegistry(t);
      const ca = { SCHEMA_REGISTRY_TLS_CA_FILE: await write('ca.pem', authority.certificate) };
      await assert.rejects(types(await requestsTo(t, url, {})), /name the PEM file .* in SCHEMA_REGISTRY_TLS_CA_FILE$/);
      await assert.rejects(
        types(await requestsTo(t, url, ca)),
        /if the registry wants a client certificate, correct SCHEMA_REGISTRY_TLS_CERT_FILE and SCHEMA_REGISTRY_TLS_KEY_FILE$/,
      );
      const files = {
        ...ca,
        SCHEMA_REGISTRY_TLS_CERT_FILE: await write('client.pem', client.certificate),
        SCHEMA_REGISTRY_TLS_KEY_FILE: await write('client.key', client.key),
      };
      assert.deepEqual(await types(await requestsTo(t, url, files)), ['AVRO', 'JSON', 'PROTOBUF']);
    });

    it('uses files that change for new connections, and refuses those that it cannot use at the start', async (t) => {
      const { url, write } = await tlsRegistry(t);
      const files = {
        SCHEMA_REGISTRY_TLS_CA_FILE: await write('ca.pem', (await createAuthority()).certificate),
        SCHEMA_REGISTRY_TLS_CERT_FILE: await write('client.pem', client.certificate),
        SCHEMA_REGISTRY_TLS_KEY_FILE: await write('client.key', client.key),
      };
      const requests = await requestsTo(t, url, files);
      await assert.rejects(types(requests), /SCHEMA_REGISTRY_TLS_CA_FILE$/);
      await write('ca.pem', authority.certificate);
      await waitFor('the authority', () => types(requests).then(Array.isArray, () => false));
      await write('client.key', server.key);
      await assert.rejects(requestsTo(t, url, files), /^ConfigError: SCHEMA_REGISTRY_TLS_KEY_FILE: .*does not belong/);
    });
  });
});
