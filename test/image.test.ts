import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { spawnPod } from './end-to-end/pod-process.ts';

/** The image's health check, with this admin port. Resolves with its exit code. */
async function checkHealth(adminPort: number | string): Promise<number> {
  const line = /^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(await readFile('Dockerfile', 'utf8'));
  const [program, ...words] = JSON.parse(line![1]!) as [string, ...string[]];
  assert.equal(program, 'bash');
  const environment = { PATH: process.env['PATH'], ADMIN_PORT: String(adminPort) };
  return promisify(execFile)(program, words, { env: environment }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

async function portOf(t: TestContext, status: number): Promise<number> {
  const server = createServer((_, response) => response.writeHead(status).end('200\n')).listen(0, '127.0.0.1');
  t.after(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe("the image's health check", () => {
  it('succeeds when /healthz returns 200, without a second Node', async (t) => {
    const pod = await spawnPod(t, {}).started();
    assert.equal(await checkHealth(new URL(pod.admin).port), 0);
  });

  it('fails with 1 when /healthz returns 503, and when nothing listens', async (t) => {
    const port = await portOf(t, 503);
    assert.equal(await checkHealth(port), 1);
    assert.equal(await checkHealth(1), 1);
  });
});

describe("the image's build", () => {
  it('takes its base image from one build argument, so that a digest pins both stages', async () => {
    const file = await readFile('Dockerfile', 'utf8');
    assert.match(file, /^ARG NODE_IMAGE=node:24\.\d+\.\d+-bookworm-slim(?:@sha256:[0-9a-f]{64})?$/m);
    assert.deepEqual(file.match(/^FROM \S+/gm), ['FROM ${NODE_IMAGE}', 'FROM ${NODE_IMAGE}']);
  });

  it('runs as a user that is not root, given by number', async () => {
    assert.match(await readFile('Dockerfile', 'utf8'), /^USER [1-9]\d*:[1-9]\d*$/m);
  });
});
