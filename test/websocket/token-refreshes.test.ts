import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { startBareGateway } from './bare-gateway.ts';

describe('refreshes of one token', () => {
  it('verify one at a time, and only the latest of the others after it', async (t) => {
    const verified: string[] = [];
    const gates: (() => void)[] = [];
    const { url, counts } = await startBareGateway(t, {
      refresh: async (_identity, parameter) => {
        verified.push((parameter as { token: string }).token);
        await new Promise<void>((resolve) => gates.push(resolve));
        return { facts: { id: 'x' }, expiresAtMs: Number(verified.at(-1)) };
      },
    });
    const socket = await openSocket(t, url);
    await socket.init();
    const far = Date.now() + 3_600_000;
    for (let i = 1; i <= 4; i++) socket.send({ type: 'ping', payload: { token: `${far + i}` } });
    const replaced = { type: 'pong', payload: { error: 'Replaced by a later token' } };
    assert.deepEqual(await socket.take(2), [replaced, replaced]);
    assert.deepEqual(verified, [`${far + 1}`]);
    gates[0]!();
    assert.equal(((await socket.next()).payload as { expiresAt: number }).expiresAt, far + 1);
    await waitFor('the latest token', () => verified.length === 2);
    assert.equal(verified[1], `${far + 4}`);
    gates[1]!();
    assert.equal(((await socket.next()).payload as { expiresAt: number }).expiresAt, far + 4);
    assert.equal(counts.refreshedTokens, 2);
  });

  it('end with their connection', async (t) => {
    let answer: ((identity: object) => void) | undefined;
    const { url, closes, counts } = await startBareGateway(t, {
      refresh: () => new Promise((resolve) => (answer = resolve)),
    });
    const socket = await openSocket(t, url);
    await socket.init();
    socket.send({ type: 'ping', payload: { token: 'x' } });
    await waitFor('the refresh', () => answer);
    socket.close(1000);
    await waitFor('the close', () => closes.length === 1);
    answer!({ facts: { id: 'x' }, expiresAtMs: Date.now() + 60_000 });
    await new Promise(setImmediate);
    assert.equal(counts.refreshedTokens, 0);
  });

  it('pay the message rate', async (t) => {
    const { url } = await startBareGateway(t, { refresh: () => Promise.resolve({ failure: 'token_invalid' }) });
    const socket = await openSocket(t, url);
    await socket.init();
    for (let i = 0; i < 200; i++) socket.send({ type: 'ping', payload: { token: 'x' } });
    assert.equal((await socket.expectClose()).code, 1008);
  });
});
