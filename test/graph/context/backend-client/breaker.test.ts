import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { BackendsOptions } from '../../../../src/graph/context/backends.ts';
import { BackendError } from '../../../../src/graph/context/backend-error.ts';
import { unavailable } from '../../../../src/graph/context/backend-client/backend-failure.ts';
import { Breaker } from '../../../../src/graph/context/backend-client/breaker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { backendServer, backendsAt, failsWith } from '../backend-server.ts';
import { manualClock } from './manual-clock.ts';

const COOLDOWN_MS = 300;
const TIMEOUT_MS = 10_000;

/** A backend that answers each path such as /500 with that status, and holds /held until the test answers it. */
async function createStage(t: TestContext, options: Partial<BackendsOptions> = {}) {
  const held: ServerResponse[] = [];
  let requests = 0;
  const url = await backendServer(t, (request, response) => {
    requests++;
    if (request.url === '/held') return void held.push(response);
    response.statusCode = Number(request.url!.slice(1));
    response.end('{}');
  });
  const backends = backendsAt(t, url, { breakerCooldownMs: COOLDOWN_MS, timeoutMs: TIMEOUT_MS, ...options });
  const send = (path: string, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => backends.send(path)));
  /** An open breaker refuses, and says for how long. */
  const isRefused = async () => {
    const before = requests;
    const [answer] = await send('/200', 1);
    const code = answer?.status === 'rejected' && (answer.reason as { extensions: { code: string } }).extensions.code;
    return code === 'BACKEND_UNAVAILABLE' && requests === before;
  };
  const open = async () => {
    await send('/500', 20);
    assert.deepEqual(backends.breakerStates, ['open']);
  };
  return { ...backends, sendMany: send, held, isRefused, open, requests: () => requests };
}

describe('the circuit breaker of a backend', () => {
  it('refuses requests at once, with retryAfterMs, after more than half of at least 20 requests failed', async (t) => {
    const { send, sendMany, requests, answers, breakerStates } = await createStage(t);
    await sendMany('/200', 10);
    await sendMany('/500', 10);
    assert.deepEqual(breakerStates, [], 'half of the requests');
    await sendMany('/503', 1);
    assert.deepEqual(breakerStates, ['open']);
    const before = requests();
    const error = await send('/200').catch((failure: unknown) => failure);
    assert.ok(error instanceof BackendError);
    const { code, retryAfterMs } = error.extensions;
    assert.deepEqual([code, error.backend], ['BACKEND_UNAVAILABLE', 'venue']);
    assert.ok(Number(retryAfterMs) > 0 && Number(retryAfterMs) <= COOLDOWN_MS, String(retryAfterMs));
    assert.equal(requests(), before);
    assert.deepEqual([answers.at(-1)!.reason, answers.at(-1)!.isSent], ['the circuit breaker is open', false]);
  });

  it('stays closed with fewer than 20 requests, and without a cooldown', async (t) => {
    const few = await createStage(t);
    await few.sendMany('/500', 19);
    assert.deepEqual(few.breakerStates, []);
    const off = await createStage(t, { breakerCooldownMs: 0 });
    await off.sendMany('/500', 100);
    assert.equal(off.requests(), 100);
  });

  it('forgets requests before the last ten seconds in which there were any', async (t) => {
    const { advance } = manualClock(t);
    const states: string[] = [];
    const breaker = new Breaker(COOLDOWN_MS, (state) => states.push(state));
    const fail = async (count: number) => {
      const outage = () => Promise.reject(unavailable('away', { isOutage: true }));
      for (let i = 0; i < count; i++) await assert.rejects(breaker.run(outage));
    };
    await fail(15);
    for (let second = 1; second <= 10; second++) {
      advance(second === 5 ? 60_000 : 1000);
      await breaker.run(() => Promise.resolve());
    }
    await fail(10);
    assert.deepEqual(states, [], 'half of the requests of ten seconds');
    await fail(1);
    assert.deepEqual(states, ['open']);
  });

  it('stays closed for statuses of the client’s fault, so that no client opens it for the others', async (t) => {
    const { sendMany, breakerStates, requests } = await createStage(t);
    for (const path of ['/400', '/401', '/404', '/409', '/422', '/429']) await sendMany(path, 30);
    assert.deepEqual([breakerStates, requests()], [[], 180]);
  });

  it('stays closed for requests that waited until shortly before their deadline', async (t) => {
    let sockets = 1;
    const { send, sendMany, held, breakerStates } = await createStage(t, { maxSockets: () => sockets });
    const { advance } = manualClock(t);
    const first = send('/held');
    await waitFor('the first request', () => held.length === 1);
    const late = sendMany('/held', 30);
    advance(TIMEOUT_MS / 2 + 100);
    sockets = 30;
    held[0]!.end('{}');
    await waitFor('the others', () => held.length === 31);
    advance(TIMEOUT_MS / 2 - 100);
    await Promise.all([first, late]);
    assert.deepEqual(breakerStates, []);
  });

  it('opens for requests without an answer, and refuses those that wait for a socket', async (t) => {
    const { sendMany, held, breakerStates, answers } = await createStage(t, { maxSockets: () => 25 });
    const { advance } = manualClock(t);
    const sent = sendMany('/held', 25);
    await waitFor('the requests', () => held.length === 25);
    advance(TIMEOUT_MS / 2);
    const waiting = sendMany('/200', 100);
    advance(TIMEOUT_MS / 2);
    await Promise.all([sent, waiting]);
    assert.deepEqual(breakerStates, ['open']);
    const refused = answers.filter(({ reason }) => reason === 'the circuit breaker is open');
    assert.ok(refused.length >= 75, `${refused.length} of 100 were refused`);
  });

  it('sends one probe after the cooldown, and closes when the probe succeeds', async (t) => {
    const { send, sendMany, held, open, breakerStates, isRefused, requests } = await createStage(t);
    await open();
    let probe: Promise<unknown> = Promise.resolve();
    await waitFor('the end of the cooldown', async () => {
      const sending = send('/held').then(
        () => 'answered',
        () => 'refused',
      );
      probe = sending;
      const outcome = await Promise.race([sending, waitFor('the probe', () => held.length > 0)]);
      return outcome !== 'refused';
    });
    assert.deepEqual(breakerStates, ['open', 'half_open']);
    assert.ok(await isRefused(), 'while the probe is sent');
    held[0]!.end('{}');
    assert.equal(await probe, 'answered');
    assert.deepEqual(breakerStates, ['open', 'half_open', 'closed']);
    const before = requests();
    await sendMany('/500', 18);
    assert.equal(requests(), before + 18, 'it counts from the probe on');
    assert.equal(breakerStates.length, 3);
  });

  it('opens again when the probe fails', async (t) => {
    const { send, open, breakerStates, isRefused } = await createStage(t);
    await open();
    await waitFor('a probe', async () => {
      await send('/500').catch(() => undefined);
      return breakerStates.length > 1;
    });
    assert.deepEqual(breakerStates, ['open', 'half_open', 'open']);
    assert.ok(await isRefused());
    await waitFor('the recovery', () => send('/200').catch(() => undefined));
    assert.equal(breakerStates.at(-1), 'closed');
  });

  it('opens for a backend that accepts no connection', async (t) => {
    const { send, breakerStates } = backendsAt(t, 'http://127.0.0.1:1', { breakerCooldownMs: COOLDOWN_MS });
    for (let i = 0; i < 20; i++) await failsWith('BACKEND_UNAVAILABLE', send('/'));
    assert.deepEqual(breakerStates, ['open']);
  });
});
