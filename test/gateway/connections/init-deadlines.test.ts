import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { InitDeadlines } from '../../../src/gateway/connections/init-deadlines.ts';
import { openSocket } from '../../support/socket.ts';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { crier } from '../websocket/crier.ts';

/** Active timers of this process. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

describe('InitDeadlines', () => {
  it('calls each owner once, not before its timeout, with one timer for all', async () => {
    const deadlines = new InitDeadlines(100);
    const passed: string[] = [];
    const waits: number[] = [];
    const expect = (name: string) => {
      const since = performance.now();
      const onDeadline = () => {
        waits.push(performance.now() - since);
        passed.push(name);
      };
      deadlines.add({ onDeadline });
    };
    const before = timers();
    for (const name of ['a', 'b']) expect(name);
    assert.equal(timers(), before + 1);
    await delay(30);
    expect('later');
    await waitFor('three deadlines', () => passed.length >= 3);
    expect('when no timer is left');
    await waitFor('the fourth deadline', () => passed.length >= 4);
    assert.deepEqual(passed, ['a', 'b', 'later', 'when no timer is left']);
    for (const wait of waits) assert.ok(wait >= 98, `${wait} ms`);
  });

  it('clears its timer when it is closed', () => {
    const before = timers();
    const deadlines = new InitDeadlines(60_000);
    deadlines.add({ onDeadline: () => assert.fail() });
    deadlines.close();
    assert.equal(timers(), before);
  });
});

/** Sockets that are all open long before the deadline of the first one, however slow the machine is. */
async function openBeforeDeadline(scope: Scope, count: number) {
  for (let timeoutMs = 1000; ; timeoutMs *= 2) {
    const target = await crier.start({ INIT_TIMEOUT_MS: String(timeoutMs) });
    scope.after(() => target.close());
    const begin = performance.now();
    const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(scope, target.url)));
    if (performance.now() - begin < timeoutMs / 2) return { sockets, timeoutMs };
  }
}

describe('the deadline of connection_init', () => {
  it('keeps a connection whose message waited in the socket while the event loop was blocked', async (t) => {
    const target = await crier.start({ INIT_TIMEOUT_MS: '1000' });
    t.after(() => target.close());
    const silent = await openSocket(t, target.url);
    const prompt = await openSocket(t, target.url);
    prompt.send({ type: 'connection_init' });
    const blockedUntil = performance.now() + 1500;
    while (performance.now() < blockedUntil);
    assert.equal((await prompt.next()).type, 'connection_ack');
    assert.equal((await silent.expectClose()).code, 4408);
  });

  it('keeps a connection whose message waits in the inbox', async (t) => {
    const { sockets, timeoutMs } = await openBeforeDeadline(t, 300);
    for (const socket of sockets) socket.send({ type: 'connection_init' });
    const blockedUntil = performance.now() + 1.5 * timeoutMs;
    while (performance.now() < blockedUntil);
    for (const socket of sockets) assert.equal((await socket.next()).type, 'connection_ack');
  });
});
