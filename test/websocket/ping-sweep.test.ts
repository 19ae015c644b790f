import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crier } from './crier.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';

describe('the ping sweep', () => {
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
