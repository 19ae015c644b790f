import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ApolloClient } from '@apollo/client/core';
import { gql } from '@apollo/client/core';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import { WebSocket } from 'ws';
import { startGraph } from '../../src/library/testing.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { filesOfPage } from './page-files.ts';

/** A server of graphql-redis-subscriptions and graphql-ws, as people have it before. */
const STOCK_SERVER = resolve('test', 'docs', 'fixtures', 'redis-subscriptions-server.js');

const COMMENTS = 'subscription { comment_added(post_id: "7") { text } }';

/** The files of the page, where they find this project's packages. */
async function filesOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(resolve('dist'), 'migrating-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [name, text] of filesOfPage('docs/recipes/migrating.md')) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Starts a server that sends the port on which it listens. */
async function startScript(t: TestContext, script: string, environment: Readonly<Record<string, string>>) {
  const child = fork(script, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise((done) => child.once('close', done));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const port = await Promise.race([
    once(child, 'message').then(([message]) => message as number),
    ended.then((code) => assert.fail(`${script} ended with ${String(code)}`)),
  ]);
  return `ws://127.0.0.1:${port}/graphql`;
}

describe('docs/recipes/migrating.md', { concurrency: 2 }, () => {
  it('brings a comment of a stock RedisPubSub to clients of a stock server, of step 1 and of step 2', async (t) => {
    const folder = await filesOf(t);
    const { url } = await redisServer(t);
    const startStep = async (step: string) => {
      const settings = { ROLE: 'gateway', REDIS_URL: url, CHANNEL_PREFIX: randomName(), GRAPH: join(folder, step) };
      return (await startPod(t, settings)).url;
    };
    const urls = await Promise.all([
      startScript(t, STOCK_SERVER, { REDIS_URL: url }),
      startStep('step-1'),
      startStep('step-2'),
    ]);
    const watched = urls.map((one) => watch(t, one, COMMENTS));
    const pubsub = new RedisPubSub({ connection: url });
    t.after(() => pubsub.close());
    const said = { comment_added: { post_id: '7', text: 'Hello' } };
    const other = { comment_added: { post_id: '8', text: 'Not for 7' } };
    const publish = async () => {
      for (const comment of [other, said])
        for (const channel of ['COMMENT_ADDED', `COMMENT_ADDED.${comment.comment_added.post_id}`])
          await pubsub.publish(channel, comment);
      return watched.every(({ events, failures }) => events.length + failures.length > 0);
    };
    await waitFor('all of them', publish, Infinity);
    for (const { events, failures } of watched) {
      assert.deepEqual(failures, []);
      for (const event of events) assert.deepEqual(event, { comment_added: { text: 'Hello' } });
    }
  });

  it('brings it from Kafka in step 3', async (t) => {
    const graph = await startGraph(join(await filesOf(t), 'step-3'));
    t.after(() => graph.close());
    const events = await graph.subscribe(COMMENTS);
    await graph.publish('comments', { comment: { postId: '8', text: 'Not for 7' } });
    await graph.publish('comments', { comment: { postId: '7', text: 'Hello' } });
    assert.deepEqual((await events.next()).value?.data, { comment_added: { text: 'Hello' } });
  });

  it('splits the operations of Apollo Client between Apollo Server and crier', async (t) => {
    const folder = await filesOf(t);
    const graph = await startGraph(join(folder, 'after-apollo'));
    t.after(() => graph.close());
    const { createApolloClient } = (await import(pathToFileURL(join(folder, 'client.js')).href)) as {
      createApolloClient: (options: object) => ApolloClient;
    };
    // Node 20 has none.
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
    const crier = graph.url.replace('http', 'ws');
    // No Apollo Server is installed here: what it would be sent goes nowhere.
    const client = createApolloClient({ apolloServer: 'http://127.0.0.1:1/', crier, getToken: () => 'token-of-ann' });
    t.after(() => client.stop());
    const query = gql('subscription { order_updated(order_id: 7) { status watcher } }');
    const told: unknown[] = [];
    const subscription = client.subscribe({ query }).subscribe(({ data, error }) => void told.push(data ?? error));
    t.after(() => subscription.unsubscribe());
    const publish = async () => {
      await graph.publish('orders', { order: { orderId: '7', status: 'PAID' } });
      return told.length > 0;
    };
    await waitFor('the event', publish, Infinity);
    const expected = { order_updated: { __typename: 'Order', status: 'PAID', watcher: 'ann' } };
    assert.deepEqual(told[0], expected);
    await assert.rejects(client.query({ query: gql('{ elsewhere }') }), /fetch failed/);
    await assert.rejects(graph.subscribe('subscription { order_updated(order_id: 7) { status } }'), /4403/);
  });

  it('subscribes, publishes and composes as the graph of EDFS', async (t) => {
    const graph = await startGraph(join(await filesOf(t), 'after-cosmo'));
    t.after(() => graph.close());
    const events = await graph.subscribe('subscription { employeeUpdated(employeeID: 1) { __typename id } }');
    for (const id of [2, 1]) await graph.publish('employeeUpdated', { __typename: 'Employee', id });
    assert.deepEqual((await events.next()).value?.data, { employeeUpdated: { __typename: 'Employee', id: 1 } });
    const published = await graph.query('mutation { updateEmployee(employeeID: 1, name: "Ada") { topic } }');
    assert.deepEqual(published, { data: { updateEmployee: { topic: 'employeeCommands' } } });
    const { data } = await graph.query('{ _service { sdl } }');
    assert.match(
      (data as { _service: { sdl: string } })._service.sdl,
      /type Employee @key\(fields: "id", resolvable: false\)/,
    );
  });
});
