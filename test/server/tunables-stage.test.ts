import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from 'graphql-ws';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { createLog } from '../../src/base/log.ts';
import { startServer } from '../../src/server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { OtlpReceiver } from '../support/otlp-receiver.ts';
import { openSocket } from '../support/socket.ts';
import { metricOf } from '../support/metric.ts';
import { watch } from '../support/stock-client.ts';
import { testConfig } from '../support/switches.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const AUCTIONS = 'subscription { auctions_updated { auction_id } }';

/** Events of 40 KB, until the mutation makes them small. */
const TEXTS = {
  'schema.graphql': `
    type Query { hello: String }
    type Mutation { shorten: Boolean }
    type Tick { text: String }
    type Subscription { tick: Tick @kafka(topic: "ticks") }
  `,
  'samples.js': `export function* records() { for (;;) yield { topic: 'ticks', value: {} }; }`,
  'resolvers.js': `
    let length = 40_000;
    export const Mutation = { shorten: () => (length = 1) === 1 };
    export const Tick = { text: () => 'x'.repeat(length) };
  `,
};
/** MAX_QUEUE_BYTES of that graph's pod. */
const QUEUE_BYTES = 16 * 2 ** 20;

/** An operation of this graph reads a channel for each of its `ids`. */
const LISTS = {
  'schema.graphql': `
    type Query { hello: String }
    type Tick { id: ID! }
    type Subscription { ticks(ids: [ID!]!): Tick @kafka(topic: "ticks", match: [{ path: "id", arg: "ids" }]) }
  `,
  'samples.js': `export function* records() { for (;;) yield { topic: 'ticks', value: { id: '1' } }; }`,
};

/** Every event of this graph waits for a backend, once for each operation. */
const PRICES = {
  'schema.graphql': `
    type Tick { price: Int }
    type Subscription { tick: Tick @kafka(topic: "ticks", shared: false) }
  `,
  'samples.js': `export function* records() { for (;;) yield { topic: 'ticks', value: {} }; }`,
  'context.js': 'export const backends = ["shop"];',
  'resolvers.js': 'export const Tick = { price: (tick, args, { backends }) => backends.shop.get("/price") };',
};

async function startTuned(t: TestContext, content: object, settings: Readonly<Record<string, string>> = {}) {
  const file = join(await temporaryFolder(t), 'tunables.json');
  const write = (value: object) => writeFile(file, JSON.stringify(value));
  await write(content);
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    SAMPLE_INTERVAL_MS: '20',
    DISABLE: '',
    TUNABLES_FILE: file,
    ...settings,
  });
  const log = createLog('silent');
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return { server, log, write, admin: `http://127.0.0.1:${server.adminPort}` };
}

describe('a server with TUNABLES_FILE', () => {
  it('refuses operations beyond a lowered limit, and lets the live ones continue', async (t) => {
    const { server, write, admin } = await startTuned(t, {});
    const client = createClient({
      url: `ws://127.0.0.1:${server.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const received = [0, 0];
    const failures: string[] = [];
    const subscribe = (next: () => void) =>
      client.subscribe(
        { query: AUCTIONS },
        { next, error: (error) => failures.push(JSON.stringify(error)), complete: () => undefined },
      );
    subscribe(() => received[0]!++);
    subscribe(() => received[1]!++);
    await waitFor('both operations', () => received.every((count) => count > 0));
    await write({ MAX_OPERATIONS_PER_CONNECTION: 1 });
    const tunable = 'crier_tunable{name="MAX_OPERATIONS_PER_CONNECTION"}';
    await waitFor('the limit', async () => (await metricOf(admin, tunable)) === 1);
    subscribe(() => assert.fail('an operation beyond the limit received an event'));
    await waitFor('the refusal', () => failures.length > 0);
    assert.match(failures[0]!, /OPERATION_LIMIT/);
    const before = [...received];
    await waitFor('further events', () => received.every((count, index) => count > before[index]!));
    await client.dispose();
  });

  it('lets a user start as many operations as a raised limit allows', async (t) => {
    const secret = 's'.repeat(32);
    const { server, admin } = await startTuned(
      t,
      { MAX_OPERATIONS_PER_CONNECTION: 20 },
      { MAX_OPERATIONS_PER_CONNECTION: '1', JWT_SECRET: secret, MAX_MESSAGES_PER_SECOND: '100' },
    );
    const claims = new SignJWT({ sub: 'ida' }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h');
    const token = await claims.sign(Buffer.from(secret));
    const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`);
    await socket.init({ token });
    for (let id = 0; id < 15; id++) socket.send({ type: 'subscribe', id: `${id}`, payload: { query: AUCTIONS } });
    await waitFor('the operations', async () => (await metricOf(admin, 'crier_subscriptions')) === 15);
  });

  it('refuses a subscription to more channels than a lowered limit', async (t) => {
    const { server, write, admin } = await startTuned(t, {}, { GRAPH: await graphFolder(t, LISTS) });
    const client = createClient({ url: `ws://127.0.0.1:${server.port}/graphql`, webSocketImpl: WebSocket });
    t.after(() => client.dispose());
    const first = async () => {
      for await (const { errors } of client.iterate({ query: 'subscription { ticks(ids: ["1", "2"]) { id } }' })) {
        return errors;
      }
      return undefined;
    };
    assert.equal(await first(), undefined);
    await write({ MAX_OPERATIONS_PER_CONNECTION: 1 });
    const tunable = 'crier_tunable{name="MAX_OPERATIONS_PER_CONNECTION"}';
    await waitFor('the limit', async () => (await metricOf(admin, tunable)) === 1);
    await assert.rejects(first(), (errors) => JSON.stringify(errors).includes('more than 1 channels'));
  });

  const admissions = [
    { name: 'MAX_CONNECTIONS', reason: 'connections', open: 0 },
    // The burst is 10 times that: the test opens sockets more quickly.
    { name: 'MAX_HANDSHAKES_PER_SECOND', reason: 'handshake_rate', open: 0 },
  ] as const;
  for (const { name, reason, open } of admissions) {
    it(`refuses sockets by a lowered ${name}, keeps the open ones, and admits again when it is raised`, async (t) => {
      const { server, write, admin } = await startTuned(t, {});
      const url = `ws://127.0.0.1:${server.port}/graphql`;
      const becomes = (value: number) =>
        waitFor(`${name} ${value}`, async () => (await metricOf(admin, `crier_tunable{name="${name}"}`)) === value);
      await becomes(open);
      const first = await openSocket(t, url);
      await first.init();
      await write({ [name]: 1 });
      await becomes(1);
      const refusals = () => metricOf(admin, `crier_refusals_total{reason="${reason}"}`);
      while ((await refusals()) === 0) await openSocket(t, url);
      assert.ok(first.isOpen);
      await write({ [name]: open });
      await becomes(open);
      const last = await openSocket(t, url);
      await last.init();
    });
  }

  for (const [name, lowered] of [
    ['MAX_QUEUE_BYTES', 1024],
    ['MAX_POD_QUEUE_BYTES', QUEUE_BYTES],
  ] as const) {
    it(`closes a socket that does not read with 1013 by a lowered ${name}`, async (t) => {
      const { server, write, admin } = await startTuned(
        t,
        {},
        {
          GRAPH: await graphFolder(t, TEXTS),
          SAMPLE_INTERVAL_MS: '10',
          MAX_QUEUE_BYTES: `${QUEUE_BYTES}`,
          PING_INTERVAL_MS: '0',
        },
      );
      const address = `127.0.0.1:${server.port}/graphql`;
      const sockets = await Promise.all(Array.from({ length: 8 }, () => openSocket(t, `ws://${address}`)));
      for (const socket of sockets) {
        await socket.init();
        socket.subscribe('1', 'subscription { tick { text } }');
        await socket.next();
        socket.pause();
      }
      const queued = () => metricOf(admin, 'crier_queue_bytes');
      await waitFor('the queues', async () => (await queued()) > QUEUE_BYTES, 30_000);
      await fetch(`http://${address}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'mutation { shorten }' }),
      });
      const slowConsumers = () => metricOf(admin, 'crier_slow_consumers_total');
      assert.equal(await slowConsumers(), 0);
      assert.ok((await metricOf(admin, 'crier_queue_bytes_max')) < QUEUE_BYTES);

      await write({ [name]: lowered });
      await waitFor('a slow consumer', async () => (await slowConsumers()) > 0);
      for (const socket of sockets) socket.resume();
      const closed = await waitFor('its close', () => sockets.find(({ isOpen }) => !isOpen));
      assert.equal((await closed.expectClose()).code, 1013);
    });
  }

  it('lets executions wait beyond a lowered MAX_EXECUTIONS', async (t) => {
    const held: ServerResponse[] = [];
    const backend = createServer((_request, response) => void held.push(response)).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    t.after(() => {
      backend.closeAllConnections();
      backend.close();
    });
    const { port } = backend.address() as AddressInfo;
    const settings = { GRAPH: await graphFolder(t, PRICES), BACKEND_SHOP_URL: `http://127.0.0.1:${port}` };
    const { server, write, admin } = await startTuned(t, {}, settings);
    for (let client = 0; client < 3; client++)
      watch(t, `ws://127.0.0.1:${server.port}/graphql`, 'subscription { tick { price } }');
    const waiting = () => metricOf(admin, 'crier_executions_waiting');
    await waitFor('three executions in flight', () => held.length >= 3);
    assert.equal(await waiting(), 0);

    await write({ MAX_EXECUTIONS: 1 });
    const tunable = 'crier_tunable{name="MAX_EXECUTIONS"}';
    await waitFor('the limit', async () => (await metricOf(admin, tunable)) === 1);
    await waitFor('one execution in flight and others that wait', async () => {
      if (held.length > 1) for (const response of held.splice(0)) response.end('7');
      return held.length === 1 && (await waiting()) > 0;
    });
  });

  it('audits shared results from the moment that a share is given, and ends with 0', async (t) => {
    const { server, write, admin } = await startTuned(t, { SHARING_AUDIT: 0, LOG_LEVEL: 'fatal' });
    const client = createClient({
      url: `ws://127.0.0.1:${server.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    let received = 0;
    for (let operation = 0; operation < 2; operation++) {
      client.subscribe(
        { query: AUCTIONS },
        { next: () => received++, error: (error) => assert.fail(JSON.stringify(error)), complete: () => undefined },
      );
    }
    await waitFor('events', () => received > 20);
    const audits = () => metricOf(admin, 'crier_sharing_audit_total{outcome="same"}');
    assert.equal(await audits(), 0);
    await write({ SHARING_AUDIT: 1 });
    await waitFor('audits', async () => (await audits()) > 0);
    await write({ SHARING_AUDIT: 0 });
    const tunable = 'crier_tunable{name="SHARING_AUDIT"}';
    await waitFor('the end of the audit', async () => (await metricOf(admin, tunable)) === 0);
    await client.dispose();
  });

  it('samples records by the ratio that is given, from the next record on, and none with 0', async (t) => {
    const collector = await new OtlpReceiver().start(t);
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const { server, write, admin } = await startTuned(t, { OTEL_TRACES_SAMPLER_ARG: 0 }, settings);
    const spans = () => metricOf(admin, 'crier_spans_total');
    const ratioBecomes = async (ratio: number) => {
      await write({ OTEL_TRACES_SAMPLER_ARG: ratio });
      const tunable = 'crier_tunable{name="OTEL_TRACES_SAMPLER_ARG"}';
      await waitFor(`the ratio ${ratio}`, async () => (await metricOf(admin, tunable)) === ratio);
    };
    const furtherRecords = async () => {
      const records = () => metricOf(admin, 'crier_messages_published_total');
      const before = await records();
      await waitFor('further records', async () => (await records()) > before + 5);
    };
    await furtherRecords();
    assert.equal(await spans(), 0);
    await ratioBecomes(1);
    await waitFor('spans', async () => (await spans()) > 0);
    await ratioBecomes(0);
    await furtherRecords();
    const ended = await spans();
    await furtherRecords();
    assert.equal(await spans(), ended);
    // Before its collector: spans that cannot be exported are tried again for 10 s.
    await server.close();
  });

  it('changes the level of the log, and counts a file that it rejects', async (t) => {
    const { log, write, admin } = await startTuned(t, { LOG_LEVEL: 'silent' });
    assert.equal(log.level, 'silent');
    await write({ LOG_LEVEL: 'loud' });
    await waitFor('the rejection', async () => (await metricOf(admin, 'crier_tunables_rejected_total')) === 1);
    assert.equal(log.level, 'silent');
    await write({ LOG_LEVEL: 'fatal' });
    await waitFor('the level', () => log.level === 'fatal');
    const report = (await (await fetch(`${admin}/debug/tunables`)).json()) as { rejected: number };
    assert.equal(report.rejected, 1);
  });
});
