import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { waitFor } from '../../support/wait-for.ts';
import { fromNow } from './identity-provider.ts';
import { TICKS, stage } from './stage.ts';
import type { Tick } from './stage.ts';

/** Longest time between the expiry and the close, in ms (S-15). */
const MAX_LATE_MS = 5_000;

describe('a connection whose token expires', { concurrency: 4 }, () => {
  it('is told in connection_ack when that is', async (t) => {
    const { provider, connect } = await stage(t);
    const exp = fromNow(600);
    const { payload } = await (await connect()).init({ token: await provider.sign({ exp }) });
    const { expiresAt, expiresInMs } = payload as { expiresAt: number; expiresInMs: number };
    assert.equal(expiresAt, (exp + 60) * 1000);
    assert.ok(expiresInMs > 600_000 && expiresInMs <= 660_000, String(expiresInMs));
  });

  it('is closed with 4403, and receives no event that was executed later (S-15)', async (t) => {
    const { provider, connect, adminPort } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const exp = fromNow(4);
    const socket = await connect();
    await socket.init({ token: await provider.sign({ exp }) });
    socket.subscribe('1', TICKS);
    assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Token expired' });
    assert.ok(Date.now() <= exp * 1000 + MAX_LATE_MS);
    const times = socket.unread.map(({ payload }) => (payload as { data: Tick }).data.tick.at);
    assert.ok(times.length > 0 && times.every((at) => at < exp * 1000), `${exp}: ${times.join(', ')}`);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    assert.match(metrics, /^crier_tokens_expired_total 1$/m);
  });

  it('stays open until exp and the tolerance', async (t) => {
    const { provider, connect } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '60000' });
    const socket = await connect();
    await socket.init({ token: await provider.sign({ exp: fromNow(-50) }) });
    socket.subscribe('1', TICKS);
    await socket.take(100);
    assert.ok(socket.isOpen);
  });

  it('is opened again by a stock client, with new parameters', async (t) => {
    const { provider, url } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const closes: number[] = [];
    const tenants = new Set<string>();
    const failures: unknown[] = [];
    let connections = 0;
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      retryWait: () => Promise.resolve(),
      connectionParams: async () => ({
        token: await provider.sign({ exp: fromNow(4), tenant: `of connection ${++connections}` }),
      }),
      on: { closed: (event) => closes.push((event as { code: number }).code) },
    });
    t.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
    client.subscribe<Tick>(
      { query: TICKS },
      {
        next: ({ data }) => tenants.add(data!.tick.tenant!),
        error: (problem) => failures.push(problem),
        complete: () => undefined,
      },
    );
    await waitFor('events of the second connection', () => tenants.size === 2);
    assert.deepEqual([closes, failures], [[4403], []]);
    assert.deepEqual([...tenants], ['of connection 1', 'of connection 2']);
  });
});
