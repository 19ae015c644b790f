import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { TcpProxy } from '../bus/redis/tcp-proxy.ts';
import type { createClient } from '../../client/client.ts';
import { openPage } from '../support/browser.ts';
import { waitFor } from '../support/wait-for.ts';
import { createStage, TICKS } from './stage.ts';

const IMPORTS = { '@crier/client': '/client/client.js', 'graphql-ws/client': '/graphql-ws/client.js' };
const PAGE = `<!doctype html>
<link rel="icon" href="data:," />
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>
<script type="module">import * as client from '@crier/client'; Object.assign(globalThis, client);</script>`;

/** The files of the build and of npm, unchanged. */
async function fileServer(t: TestContext): Promise<string> {
  const folders = { client: 'dist/client', 'graphql-ws': 'node_modules/graphql-ws/dist' };
  const server = createServer((request, response) => {
    const [, folder = '', ...path] = request.url!.split('/');
    if (folder === '') return void response.setHeader('content-type', 'text/html').end(PAGE);
    readFile(join(folders[folder as keyof typeof folders], ...path)).then(
      (content) => response.setHeader('content-type', 'text/javascript').end(content),
      () => response.writeHead(404).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface PageScope {
  readonly createClient: typeof createClient;
  numbers: number[];
  resumed: boolean[];
  happened: string[];
}

/** Runs in the page. */
function watchTicks({ url, query }: { url: string; query: string }): void {
  const scope = globalThis as unknown as PageScope;
  Object.assign(scope, { numbers: [], resumed: [], happened: [] });
  const client = scope.createClient({
    url,
    keepAlive: 1_000,
    on: {
      error: () => scope.happened.push('error'),
      closed: (event) => scope.happened.push(`${(event as { code: number }).code}`),
    },
  });
  client.subscribe<{ tick: { n: number } }, { resumed?: boolean }>(
    { query },
    {
      next: ({ data, extensions }) => {
        scope.numbers.push(data!.tick.n);
        if (extensions?.resumed !== undefined) scope.resumed.push(extensions.resumed);
      },
      error: (problem) => scope.happened.push(`final: ${String(problem)}`),
      complete: () => scope.happened.push('complete'),
    },
  );
}

it('runs in a browser without a bundler, and resumes after a shutdown, a disconnect and a silent link', async (t) => {
  const stage = await createStage(t);
  const origin = await fileServer(t);
  const settings = { ALLOWED_ORIGINS: origin };
  const pod = await stage.gateway(settings);
  const proxy = await TcpProxy.start(t, pod.port);
  const page = await openPage(t);
  await page.goto(origin);
  await page.evaluate(watchTicks, { url: `${proxy.url.replace('redis', 'ws')}/graphql`, query: TICKS });
  const read = () =>
    page.evaluate(() => {
      const { numbers, resumed, happened } = globalThis as unknown as PageScope;
      return { numbers, resumed, happened };
    });
  const got = (count: number) =>
    waitFor(`${count} events`, async () => (await read()).numbers.length >= count, 40_000).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await read())}`);
      },
    );
  await waitFor('the subscription', () => stage.subscriptions === 1, 40_000);
  await stage.publish(5);
  await got(5);

  await pod.close();
  await stage.publish(5);
  await stage.gateway({ ...settings, PORT: `${pod.port}` });
  await got(10);

  proxy.cut();
  await stage.publish(5);
  await got(15);

  proxy.freeze();
  await stage.publish(5);
  await got(20);
  const { numbers, resumed, happened } = await read();
  assert.deepEqual(
    numbers,
    Array.from({ length: 20 }, (_, n) => n),
  );
  assert.ok(resumed.length >= 3 && !resumed.includes(false), resumed.join());
  t.diagnostic(`error and close events, in order: ${happened.join(', ')}`);
  assert.ok(happened.includes('1001') && happened.includes('1006') && happened.includes('4499'), happened.join());
});
