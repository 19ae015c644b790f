import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { openBackends } from '../../src/server/backends-stage.ts';
import type { Component } from '../../src/server/services.ts';
import { Versioned } from '../../src/server/versioned.ts';
import { Tunables } from '../../src/ops/tunables/tunables.ts';
import { limitedConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';

/** The backends of the auction graph; "venue" is a server that answers when the test says so. */
async function createStage(t: TestContext, environment: Readonly<Record<string, string>>) {
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => void held.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const components: Component[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const details: Record<string, () => unknown> = {};
  const metrics = new Metrics();
  const config = limitedConfig({ ...environment, BACKEND_VENUE_URL: url });
  const backends = await openBackends({
    config,
    tunables: new Tunables({ config, log }),
    graph: new Versioned(await loadGraph('examples/auction')),
    bus: new MemoryBus({ prefix: 'test:', log }),
    log,
    metrics,
    details,
    register: (component) => {
      components.unshift(component);
      return component;
    },
  });
  t.after(async () => {
    for (const component of components) await component.close();
    server.closeAllConnections();
    server.close();
  });
  const metric = async (name: string) => {
    const text = (await metrics.registry.metrics()).split('\n');
    return text.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  };
  const waiting = () => metric('crier_backend_requests_waiting');
  const send = () => backends.send('venue', { method: 'GET', path: '/', callerHeader: () => undefined });
  return { held, send, waiting, metric, lines, details };
}

/** Answers each request at once, with a status that the test may change, and counts them. */
function answerAll(t: TestContext, held: ServerResponse[]) {
  const answers = { status: 500, count: 0 };
  const answering = setInterval(() => {
    for (const response of held.splice(0)) {
      answers.count++;
      response.writeHead(answers.status).end();
    }
  }, 5);
  t.after(() => clearInterval(answering));
  return answers;
}

describe('the backends of a gateway', () => {
  it('show how many requests wait while all sockets of a backend are in use', async (t) => {
    const { held, send, waiting } = await createStage(t, { BACKEND_MAX_SOCKETS: '2' });
    assert.deepEqual(await waiting(), []);
    const sending = [send(), send()];
    await waitFor('both sockets', () => held.length === 2);
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 0']);
    sending.push(send(), send(), send());
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 3']);
    for (let answered = 0; answered < 5; answered++) {
      await waitFor('the next request', () => held.length > answered);
      held[answered]!.end('{}');
    }
    await Promise.all(sending);
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 0']);
  });

  it('count requests in flight, their time, and retries', async (t) => {
    const { held, send, metric } = await createStage(t, { BACKEND_RETRY_BUDGET: '1' });
    const sending = [send(), send()];
    await waitFor('both requests', () => held.length === 2);
    assert.deepEqual(await metric('crier_backend_requests_in_flight'), [
      'crier_backend_requests_in_flight{backend="venue"} 2',
    ]);
    held[0]!.writeHead(503, { 'retry-after': '0' }).end();
    held[1]!.end('{}');
    await waitFor('the retry', () => held.length === 3);
    held[2]!.end('{}');
    await Promise.all(sending);
    assert.deepEqual(await metric('crier_backend_requests_in_flight'), [
      'crier_backend_requests_in_flight{backend="venue"} 0',
    ]);
    assert.deepEqual(await metric('crier_backend_retries_total'), [
      'crier_backend_retries_total{backend="venue",outcome="OK"} 1',
    ]);
    assert.deepEqual(await metric('crier_backend_request_seconds_count'), [
      'crier_backend_request_seconds_count{backend="venue"} 2',
    ]);
  });

  it('show an open circuit breaker in metrics, in /readyz and in the log, until a probe succeeds', async (t) => {
    const environment = { BACKEND_BREAKER_COOLDOWN_MS: '200', BACKEND_RETRY_BUDGET: '0' };
    const { held, send, metric, lines, details } = await createStage(t, environment);
    const answers = answerAll(t, held);
    await Promise.allSettled(Array.from({ length: 20 }, send));
    await assert.rejects(send(), /is not available/);
    const open = () => metric('crier_backend_breaker_open');
    assert.deepEqual(await open(), ['crier_backend_breaker_open{backend="venue"} 1']);
    assert.deepEqual(details['failing_backends']!(), ['venue']);
    const [seconds] = await metric('crier_backend_request_seconds_count');
    assert.equal(seconds, 'crier_backend_request_seconds_count{backend="venue"} 20', 'a refused request takes no time');
    answers.status = 200;
    await waitFor('the recovery', () =>
      send().then(
        () => true,
        () => undefined,
      ),
    );
    assert.deepEqual(await open(), ['crier_backend_breaker_open{backend="venue"} 0']);
    assert.deepEqual(details['failing_backends']!(), []);
    const changes = lines.filter(({ breaker }) => breaker !== undefined);
    assert.deepEqual(
      changes.map(({ level, backend, breaker }) => [level, backend, breaker]),
      [
        [50, 'venue', 'open'],
        [30, 'venue', 'half_open'],
        [30, 'venue', 'closed'],
      ],
    );
    const refused = lines.filter(({ outcome }) => outcome === 'BACKEND_UNAVAILABLE');
    assert.deepEqual(
      refused.map(({ msg, reason }) => [msg, reason]),
      [['a backend request failed', 'the circuit breaker is open']],
      'refused requests share one line',
    );
  });

  it('log the probes of a dead backend once per window, and its recovery and its next failure at once', async (t) => {
    const environment = { BACKEND_BREAKER_COOLDOWN_MS: '50', BACKEND_RETRY_BUDGET: '0' };
    const { held, send, lines, details } = await createStage(t, environment);
    const answers = answerAll(t, held);
    const isFailing = () => (details['failing_backends']!() as string[]).length > 0;
    const sendUntil = (what: string, isMet: () => boolean) =>
      waitFor(what, async () => {
        await send().catch(() => undefined);
        return isMet();
      });
    await sendUntil('the first failure', isFailing);
    const { count } = answers;
    await sendUntil('three probes', () => answers.count >= count + 3);
    answers.status = 200;
    await sendUntil('the recovery', () => !isFailing());
    answers.status = 500;
    await sendUntil('the next failure', isFailing);
    const changes = lines.filter(({ breaker }) => breaker !== undefined);
    assert.deepEqual(
      changes.map(({ breaker }) => breaker),
      ['open', 'half_open', 'closed', 'open'],
    );
  });
});
