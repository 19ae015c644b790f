import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSocket } from '../support/socket.ts';
import { crier } from './crier.ts';

describe('the deadline of connection_init', () => {
  it('passes for nobody whose message waited in the socket while the event loop was blocked', async (t) => {
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
});
