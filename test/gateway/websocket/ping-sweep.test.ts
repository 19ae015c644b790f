import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { crier } from './crier.ts';
import { clientFrame, OPCODE } from '../../../src/tools/conformance/client-frame.ts';
import { openSocket } from '../../support/socket.ts';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';

async function startCrier(t: TestContext, pingIntervalMs: number): Promise<string> {
  const target = await crier.start({
    PING_INTERVAL_MS: String(pingIntervalMs),
    INIT_TIMEOUT_MS: '60000',
    MAX_MESSAGES_PER_SECOND: '100000',
  });
  t.after(() => target.close());
  return target.url;
}

/** A peer that answers every ping, each after `delayMs`. */
async function openSlowPeer(scope: Scope, url: string, delayMs: number) {
  const socket = new WebSocket(url, 'graphql-transport-ws', { autoPong: false });
  scope.after(() => socket.terminate());
  const peer = { pings: 0, closeCode: undefined as number | undefined };
  socket.on('close', (code) => (peer.closeCode = code));
  socket.on('ping', () => {
    peer.pings++;
    setTimeout(() => socket.readyState === WebSocket.OPEN && socket.pong(), delayMs);
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return peer;
}

describe('the ping sweep', () => {
  it('ends no peer that answers every ping within the interval while connections arrive', async (t) => {
    const intervalMs = 2000;
    const url = await startCrier(t, intervalMs);
    const peers = await Promise.all(Array.from({ length: 10 }, () => openSlowPeer(t, url, intervalMs * 0.4)));
    for (let i = 0; i < 30 && peers.every(({ closeCode }) => closeCode === undefined); i++)
      await Promise.all(Array.from({ length: 15 }, () => openSocket(t, url)));
    await waitFor('two pings', () => peers.every(({ pings, closeCode }) => pings >= 2 || closeCode !== undefined));
    assert.deepEqual(
      peers.map(({ closeCode }) => closeCode),
      peers.map(() => undefined),
    );
  });

  it('ends a peer that sends nothing for an interval', async (t) => {
    const url = await startCrier(t, 200);
    const silent = await openSocket(t, url, { isAnsweringPings: false });
    assert.equal((await silent.expectClose()).code, 1006);
    assert.equal(silent.pings, 1);
  });

  it('keeps a peer that answers no ping but sends messages', async (t) => {
    const url = await startCrier(t, 200);
    const socket = await openSocket(t, url, { isAnsweringPings: false });
    while (socket.pings < 5) await socket.roundTrip();
    assert.ok(socket.isOpen);
  });

  for (const pingIntervalMs of [200, 0]) {
    const pings = pingIntervalMs === 0 ? 'without pings' : 'though it answers every ping';
    it(`closes with 4408 a peer that does not complete a message, ${pings}`, async (t) => {
      if (pingIntervalMs === 0) t.mock.timers.enable({ apis: ['setInterval'] });
      const url = await startCrier(t, pingIntervalMs);
      const fragmented = await openSocket(t, url);
      fragmented.write(clientFrame('{"type":', { isFinal: false }));
      const trickling = await openSocket(t, url);
      trickling.write(clientFrame('{"type":"ping"}', { claimedBytes: 1000 }));
      const unfinished = [fragmented, trickling];
      if (pingIntervalMs === 0) {
        const lackingOneByte = await openSocket(t, url);
        lackingOneByte.write(clientFrame('', { claimedBytes: 1 }));
        unfinished.push(lackingOneByte);
      }
      const healthy = await openSocket(t, url);
      const deadline = performance.now() + 15_000;
      while (unfinished.some(({ isOpen }) => isOpen)) {
        assert.ok(performance.now() < deadline, 'still open');
        healthy.write(clientFrame('{"type":', { isFinal: false }));
        if (pingIntervalMs === 0) t.mock.timers.tick(600);
        healthy.write(clientFrame('"ping"}', { opcode: OPCODE.continuation }));
        assert.equal((await healthy.next()).type, 'pong');
        if (fragmented.isOpen) fragmented.write(clientFrame('x', { opcode: OPCODE.ping }));
      }
      for (const socket of unfinished)
        assert.deepEqual(await socket.expectClose(), { code: 4408, reason: 'Message not completed in time' });
      assert.ok(healthy.isOpen);
      assert.equal(healthy.pings > 0, pingIntervalMs > 0);
    });
  }

  it('pings each of a few connections once per interval, not once per slice', async (t) => {
    const intervalMs = 500;
    const target = await crier.start({ PING_INTERVAL_MS: String(intervalMs) });
    t.after(() => target.close());
    const startedAt = performance.now();
    const sockets = await Promise.all(Array.from({ length: 3 }, () => openSocket(t, target.url)));
    for (const socket of sockets) await waitFor('four pings', () => socket.pings >= 4);
    const intervals = (performance.now() - startedAt) / intervalMs;
    for (const { pings } of sockets)
      assert.ok(pings <= intervals + 1, `${pings} pings in ${intervals.toFixed(1)} intervals`);
  });
});
