import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { waitFor } from '../../../support/wait-for.ts';
import type { Cause } from './cause.ts';

export const executionCauses: readonly Cause[] = [
  {
    title: 'skipped events: a field with pace receives three of one key at once',
    metrics: ['crier_skipped_events_total'],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, 'subscription { paced_thing { id } }', `${stage.topic}{}`);
      const things = ['1', '2', '3'].map((id) => `{"thing":{"id":"${id}"}}`);
      await stage.moves({ 'crier_skipped_events_total{reason="pace"}': 1 }, () => stage.send(...things));
      socket.close();
    },
  },
  {
    title: 'executions: shared, with a request to a backend, and in flight',
    metrics: [
      'crier_execution_seconds',
      'crier_execution_backend_requests',
      'crier_results_shared_total',
      'crier_executions_in_flight',
    ],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, 'subscription { any_thing { id } }', `${stage.topic}{}`);
      socket.subscribe('2', 'subscription { any_thing { id } }');
      await socket.roundTrip();
      await stage.moves(
        {
          'crier_execution_seconds_count{field="any_thing"}': 1,
          'crier_execution_backend_requests_sum{field="any_thing"}': 0,
          crier_results_shared_total: 1,
        },
        () => stage.send('{"thing":{"id":"1"}}'),
      );
      socket.close();
      const waiting: ServerResponse[] = [];
      const onRequest = (_request: unknown, response: ServerResponse) => void waiting.push(response);
      stage.shop.on('request', onRequest);
      const body = JSON.stringify({ query: '{ asks }' });
      const headers = { 'content-type': 'application/json' };
      await stage.moves(
        {
          'crier_execution_seconds_count{field="asks"}': 1,
          'crier_execution_backend_requests_sum{field="asks"}': 1,
          crier_executions_in_flight: 0,
        },
        async () => {
          const asking = fetch(stage.pod.endpoint, { method: 'POST', headers, body });
          await waitFor('the request', () => waiting.length === 1);
          assert.equal(await stage.value('crier_executions_in_flight'), 1);
          waiting[0]!.setHeader('content-type', 'application/json').end('{"name":"a"}');
          assert.deepEqual(await (await asking).json(), { data: { asks: 'a' } });
        },
      );
      stage.shop.off('request', onRequest);
    },
  },
];
