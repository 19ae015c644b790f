import assert from 'node:assert/strict';
import { request } from 'node:http';
import { openSocket } from '../../../support/socket.ts';
import type { Cause } from './cause.ts';
import type { Stage } from './stage.ts';

const THING = 'subscription { thing(id: "1") { id } }';
const OTHER_THING = 'subscription { thing(id: "2") { id } }';

interface Next {
  readonly payload: { readonly extensions: { readonly cursor: string } };
}

/** Status of a handshake that is refused. */
function handshake(stage: Stage, path: string, headers: Record<string, string>): Promise<number> {
  const { hostname, port } = new URL(stage.pod.endpoint);
  return new Promise((resolve, reject) => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    request({ host: hostname, port, path, headers: { ...upgrade, ...headers } })
      .on('response', (response) => resolve(response.statusCode!))
      .on('error', reject)
      .end();
  });
}

export const clientCauses: readonly Cause[] = [
  {
    title: 'a stream of server-sent events',
    metrics: ['crier_streams'],
    run: async (stage) => {
      const left = new AbortController();
      const open = () =>
        fetch(stage.pod.endpoint, {
          method: 'POST',
          headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
          body: JSON.stringify({ query: THING }),
          signal: left.signal,
        });
      await stage.moves({ 'crier_streams{transport="sse"}': 1 }, open);
      await stage.moves({ 'crier_streams{transport="sse"}': -1 }, () => left.abort());
    },
  },
  {
    title: 'an operation that listens to a trigger of context.pubsub',
    metrics: ['crier_pubsub_triggers'],
    run: async (stage, t) => {
      const socket = await openSocket(t, stage.pod.url);
      await socket.init();
      await stage.moves({ crier_pubsub_triggers: 1 }, () => socket.subscribe('1', 'subscription { news }'));
      await stage.moves({ crier_pubsub_triggers: -1 }, () => socket.close());
    },
  },
  {
    title: 'a connection with an operation',
    metrics: [
      'crier_connections',
      'crier_connections_opened_total',
      'crier_connections_closed_total',
      'crier_operations',
      'crier_subscriptions',
      'crier_channels',
      'crier_executions_total',
      'crier_deliveries_total',
      'crier_delivered_bytes_total',
      'crier_socket_writes_total',
      'crier_delivery_latency_seconds',
    ],
    run: async (stage, t) => {
      const socket = await openSocket(t, stage.pod.url);
      await stage.moves(
        {
          crier_operations: 1,
          'crier_subscriptions{field="thing"}': 1,
          'crier_subscriptions{field="any_thing"}': 0,
          crier_channels: 1,
        },
        async () => {
          await socket.init();
          socket.subscribe('1', THING);
          await socket.roundTrip();
        },
      );
      assert.equal(await stage.value('crier_connections'), 1);
      await stage.moves(
        { crier_executions_total: 1, crier_deliveries_total: 1, crier_delivery_latency_seconds_count: 1 },
        async () => {
          await stage.send('{"thing":{"id":"1"}}');
          await socket.next();
        },
      );
      for (const name of ['crier_delivered_bytes_total', 'crier_socket_writes_total'])
        assert.ok((await stage.value(name)) > 0, name);
      await stage.moves(
        {
          'crier_connections_closed_total{code="1000"}': 1,
          crier_connections: -1,
          'crier_subscriptions{field="thing"}': -1,
        },
        () => socket.close(1000),
      );
      await stage.moves({ crier_connections_opened_total: 1 }, async () => (await stage.connect(t)).close());
    },
  },
  {
    title: 'a long result for two connections with compression',
    metrics: ['crier_compression_input_bytes_total', 'crier_compression_output_bytes_total'],
    run: async (stage, t) => {
      const query = 'subscription { thing(id: "1") { text } }';
      const text = 'long '.repeat(1000);
      const result = `{"data":{"thing":{"text":"${text}"}},"extensions":{"cursor":""}}}`;
      const input = 'crier_compression_input_bytes_total';
      const sockets = [1, 2].map(() => openSocket(t, stage.pod.url, { isOfferingCompression: true }));
      const before = await stage.series();
      for (const socket of await Promise.all(sockets)) {
        await socket.init();
        socket.subscribe('1', query);
        await socket.roundTrip();
      }
      await stage.send(JSON.stringify({ thing: { id: '1', text } }));
      for (const socket of await Promise.all(sockets)) {
        const { payload } = await socket.next();
        assert.deepEqual((payload as { data: object }).data, { thing: { text } });
      }
      const [bytes, compressed] = await Promise.all(
        [input, 'crier_compression_output_bytes_total'].map(
          async (name) => (await stage.value(name)) - (before.get(name) ?? 0),
        ),
      );
      // A cursor has some 60 bytes.
      assert.ok(bytes! > result.length && bytes! < result.length + 200, `once for both: ${bytes} bytes`);
      assert.ok(compressed! < bytes! / 10, `${compressed} bytes`);
      for (const socket of await Promise.all(sockets)) socket.close();
    },
  },
  {
    title: 'refused handshakes and requests',
    metrics: ['crier_refusals_total'],
    run: async (stage) => {
      await stage.moves(
        { 'crier_refusals_total{reason="path"}': 1, 'crier_refusals_total{reason="origin"}': 2 },
        async () => {
          assert.equal(await handshake(stage, '/elsewhere', {}), 404);
          const headers = { origin: 'https://evil.example' };
          assert.equal(await handshake(stage, '/graphql', headers), 403);
          assert.equal((await fetch(`${stage.pod.endpoint}?query={hello}`, { headers })).status, 403);
        },
      );
    },
  },
  {
    title: 'connections that are not authenticated',
    metrics: ['crier_authentication_failures_total'],
    run: async (stage, t) => {
      let deep: object = {};
      for (let i = 0; i < 40; i++) deep = { deep };
      const payloads = {
        denied: { auth: 'deny' },
        threw: { auth: 'throw' },
        timeout: { auth: 'hang' },
        invalid_claims: { auth: 'claims' },
        invalid_params: deep,
      };
      for (const [reason, payload] of Object.entries(payloads)) {
        await stage.moves({ [`crier_authentication_failures_total{reason="${reason}"}`]: 1 }, async () => {
          const socket = await openSocket(t, stage.pod.url, { patienceMs: 60_000 });
          socket.send({ type: 'connection_init', payload });
          assert.equal((await socket.expectClose()).code, 4403, reason);
        });
      }
    },
  },
  {
    title: 'a client that does not read',
    metrics: ['crier_slow_consumers_total', 'crier_queue_bytes', 'crier_queue_bytes_max'],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, 'subscription { any_thing { text } }', `${stage.topic}{}`);
      socket.pause();
      const record = JSON.stringify({ thing: { id: '1', text: 'x'.repeat(60_000) } });
      const closed = 'crier_connections_closed_total{code="1013"}';
      await stage.grows(['crier_slow_consumers_total'], async () => {
        for (let i = 0; i < 200 && (await stage.value('crier_slow_consumers_total')) === 0; i++)
          await stage.send(...Array.from({ length: 10 }, () => record));
      });
      socket.terminate();
      await stage.has('crier_slow_consumers_total', 1);
      await stage.has(closed, 1);
    },
  },
  {
    title: 'clients that resume',
    metrics: ['crier_resumes_total', 'crier_held_bytes'],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, OTHER_THING, `${stage.topic}{thing.id="2"}`);
      await stage.send('{"thing":{"id":"2"}}');
      const { cursor } = ((await socket.next()) as unknown as Next).payload.extensions;
      const resume = (query: string, id: string, at: string) =>
        socket.subscribe(id, query, undefined, { resume: { cursor: at } });
      await stage.send('{"thing":{"id":"2"}}');
      await socket.next();
      await stage.grows(['crier_held_bytes'], () =>
        stage.moves({ 'crier_resumes_total{outcome="resumed"}': 1 }, () => resume(OTHER_THING, 'a', cursor)),
      );
      await stage.moves({ 'crier_resumes_total{outcome="cursor_invalid"}': 1 }, () =>
        resume(OTHER_THING, 'b', 'forged'),
      );
      await stage.moves({ 'crier_resumes_total{outcome="no_history"}': 1 }, () =>
        resume('subscription { own_source }', 'c', cursor),
      );
      socket.close();
    },
  },
];
