import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { startGraph } from '../../src/library/testing.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { fileOfPage, replaced } from './page-files.ts';

/** The first block of a language on a page. */
async function blockOf(page: string, language: string): Promise<string> {
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(await readFile(page, 'utf8'))![1]!;
}

/** A folder where files find this project's packages. */
async function folderWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(resolve('dist'), 'learn-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const RECORD = { orderId: '7', status: 'SHIPPED', totalCents: 1250, lines: [{ sku: 'tea', quantity: 2 }] };

describe('docs/learn', () => {
  it('has a schema that reads its records, and a resolver', async (t) => {
    const page = 'docs/learn/schema.md';
    const schema = (await blockOf(page, 'graphql')).replace('lines: [OrderLine]', 'lines: [OrderLine]\n  count: Int');
    const resolvers = fileOfPage(page, 'my-graph/resolvers.js');
    const graph = await startGraph(await folderWith(t, { 'schema.graphql': schema, 'resolvers.js': resolvers }));
    t.after(() => graph.close());
    const events = await graph.subscribe('subscription { order(order_id: "7") { status total_cents count } }');
    await graph.publish('orders', { ...RECORD, orderId: '8' });
    await graph.publish('orders', RECORD);
    const { value } = await events.next();
    assert.deepEqual(value?.data, { order: { status: 'SHIPPED', total_cents: 1250, count: 1 } });
  });

  it('has a client that shows the order as it is, and its changes', async (t) => {
    const page = 'docs/learn/client.md';
    const schema = `${await blockOf(page, 'graphql')} type Order { order_id: ID! status: String total_cents: Int }`;
    const graph = await startGraph(await folderWith(t, { 'schema.graphql': schema }));
    t.after(() => graph.close());
    await graph.publish('orders', { ...RECORD, status: 'PAID' }, { key: '7' });
    const client = replaced(fileOfPage(page, 'client.js'), [
      ['ws://localhost:4000/graphql', graph.url.replace('http', 'ws')],
      [`'@crier/client'`, JSON.stringify(pathToFileURL(resolve('dist/client/client.js')).href)],
    ]);
    const folder = await folderWith(t, { 'client.mjs': client });
    // Node 20 has none.
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
    const { watchOrder } = (await import(pathToFileURL(join(folder, 'client.mjs')).href)) as {
      watchOrder: (id: string, show: (shown: { order?: { status: string } }) => void) => () => void;
    };
    const shown: unknown[] = [];
    t.after(watchOrder('7', (one) => shown.push(one.order?.status)));
    await waitFor('the state', () => shown.length === 1);
    await graph.publish('orders', RECORD, { key: '7' });
    await waitFor('the event', () => shown.length === 2);
    assert.deepEqual(shown, ['PAID', 'SHIPPED']);
  });
});

it('docs/learn/deploy.md has a Dockerfile whose files, settings and command serve the graph of a project', async (t) => {
  const file = fileOfPage('docs/learn/deploy.md', 'app.Dockerfile');
  const linesOf = (word: string) => Array.from(file.matchAll(new RegExp(`^${word} (.*)$`, 'gm')), ([, text]) => text!);
  const records = JSON.stringify({ topic: 'orders', value: RECORD });
  const project = await folderWith(t, { 'package.json': '{"type":"module"}' });
  await mkdir(join(project, 'node_modules'));
  await symlink(resolve('.'), join(project, 'node_modules', 'crier'));
  await mkdir(join(project, 'live'));
  await writeFile(join(project, 'live/schema.graphql'), await blockOf('docs/learn/schema.md', 'graphql'));
  await writeFile(join(project, 'live/samples.js'), `export function* records() { for (;;) yield ${records}; }`);
  const image = await folderWith(t, {});
  for (const [from, to] of linesOf('COPY').map((text) => text.split(' ') as [string, string]))
    await cp(join(project, from), join(image, to === './' ? from : to), { recursive: true, verbatimSymlinks: true });
  const settings = linesOf('ENV').flatMap((text) => text.split(' ').map((one) => one.split('=') as [string, string]));
  const [program, ...words] = JSON.parse(linesOf('CMD')[0]!) as [string, ...string[]];
  assert.equal(program, 'node');
  // An option of Node 22.
  const command = [process.execPath, ...words.filter((word) => !word.startsWith('--max-old-space-size-percentage='))];
  const own = { EMBEDDED: 'true', SAMPLE_INTERVAL_MS: '20', ADMIN_HOST: '127.0.0.1' };
  const pod = await spawnPod(t, { ...Object.fromEntries(settings), ...own }, { folder: image, command }).started();
  const event = await watch(t, pod.url, 'subscription { order(order_id: "7") { status } }').event();
  assert.deepEqual(event, { order: { status: 'SHIPPED' } });
});

it('docs/learn/deploy.md has settings that a shell gives to crier as they stand', async (t) => {
  const [, script] = /^```sh\n(export .*?)^```/ms.exec(await readFile('docs/learn/deploy.md', 'utf8'))!;
  const command = replaced(script!, [
    ['npx --no-install crier check', `node ${resolve('dist/src/main.js')} settings --json`],
  ]);
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: await folderWith(t, {}) });
  const rows = JSON.parse(stdout) as { name: string; source: string; isRefused: boolean }[];
  const names = Array.from(command.matchAll(/^export (\w+)=/gm), ([, name]) => name!);
  assert.equal(names.length, 9);
  for (const name of names.filter((one) => one !== 'NODE_ENV')) {
    const row = rows.find((one) => one.name === name);
    assert.deepEqual([row?.source, row?.isRefused], ['environment', false], name);
  }
});

it('docs/reference/http.md has a request and its reply', async (t) => {
  const page = 'docs/reference/http.md';
  const graph = await startGraph(
    await folderWith(t, { 'schema.graphql': await blockOf('docs/learn/schema.md', 'graphql') }),
  );
  t.after(() => graph.close());
  const command = replaced(await blockOf(page, 'sh'), [['localhost:4000', new URL(graph.url).host]]);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  assert.deepEqual(JSON.parse(stdout), JSON.parse(await blockOf(page, 'json')));
});
