import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClientConnection } from '../../../src/gateway/connections/client-connection.ts';
import { closesDue, drain } from '../../../src/gateway/connections/drain.ts';
import { openSocket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startBareGateway } from '../websocket/bare-gateway.ts';

const NEVER = new AbortController().signal;

class Peer {
  readonly #closes: Peer[];
  isEnded = false;

  constructor(closes: Peer[]) {
    this.#closes = closes;
  }

  leave(): void {
    this.isEnded = true;
    this.#closes.push(this);
  }
}

function peersOf(count: number) {
  const closes: Peer[] = [];
  return { closes, peers: Array.from({ length: count }, () => new Peer(closes)) };
}

describe('drain', () => {
  it('closes as many connections in every second of the spread, also if slices are late', () => {
    const bySecond = Array.from({ length: 20 }, (_, second) => {
      const lateMs = second % 2 === 0 ? 0 : 20;
      return closesDue(4000, (second + 1) * 1000 - 50 + lateMs, 20_000);
    });
    const counts = bySecond.map((due, second) => due - (bySecond[second - 1] ?? 0));
    assert.equal(bySecond.at(-1), 4000);
    for (const count of counts.slice(0, -1)) assert.ok(Math.abs(count - 200) <= 20, String(counts));
    assert.deepEqual([closesDue(1, 0, 20_000), closesDue(4000, 0, 20_000), closesDue(7, 0, 0)], [1, 10, 7]);
  });

  it('closes in random order, so that the connections of one storm are spread, too', async () => {
    const { peers, closes } = peersOf(1000);
    await drain(peers, 0, NEVER, () => undefined);
    const moved = closes.filter((peer, index) => peer !== peers[index]).length;
    assert.ok(moved > 900, String(moved));
  });

  it('ends as soon as the remaining clients have left by themselves', async () => {
    const { peers, closes } = peersOf(1000);
    let isDone = false;
    const done = drain(peers, 3_600_000, NEVER, () => undefined).then(() => (isDone = true));
    await waitFor('the first close', () => closes.length > 0);
    for (const peer of peers) peer.isEnded = true;
    await done;
    assert.ok(isDone);
    assert.ok(closes.length < 1000);
  });

  it('resolves at once without a connection', () => drain([], 3_600_000, NEVER, assert.fail));

  it('closes all that remain in a fast shutdown', async () => {
    const { peers, closes } = peersOf(1000);
    const fastShutdown = new AbortController();
    let count = 0;
    const done = drain(peers, 3_600_000, fastShutdown.signal, () => count++);
    await waitFor('the first close', () => closes.length > 0);
    assert.ok(closes.length < 1000);
    fastShutdown.abort();
    await done;
    assert.deepEqual([closes.length, count], [1000, 1000]);
  });
});

describe('the drain of a gateway', () => {
  it('serves the others until their turn, and reports who closed', { timeout: 60_000 }, async (t) => {
    const fastShutdown = new AbortController();
    const { gateway, url, refusals } = await startBareGateway(t, {
      drainSpreadMs: 3_600_000,
      fastShutdown: fastShutdown.signal,
    });
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openSocket(t, url)));
    const closing = gateway.close();
    await waitFor('the first close', () => gateway.connections.drainedCount === 1);
    assert.equal((await (await openSocket(t, url)).expectClose()).code, 1001, 'a handshake during the spread');
    assert.deepEqual(refusals, ['draining']);
    const open = sockets.filter((socket) => socket.isOpen);
    assert.equal(open.length, 4);
    open[0]!.close(1000);
    await waitFor('the client to leave', () => gateway.connections.size === 3);
    fastShutdown.abort();
    assert.deepEqual(await closing, { closed: 4, left: 1, terminated: 0 });
  });

  it('counts a client that does not answer as terminated', async (t) => {
    const { gateway, url } = await startBareGateway(t, { drainTimeoutMs: 50 });
    (await openSocket(t, url)).pause();
    assert.deepEqual(await gateway.close(), { closed: 1, left: 0, terminated: 1 });
  });

  it('counts a client once whose connection closes as soon as it is terminated', async (t) => {
    const { gateway } = await startBareGateway(t, { drainTimeoutMs: 50 });
    const { connections } = gateway;
    const end = { code: 1001, reason: '', isAnswered: false };
    const ignore = () => undefined;
    const terminate = () => connections.onClosed(connection, end);
    const connection = { address: '', leave: ignore, sweep: ignore, terminate } as unknown as ClientConnection;
    connections.add(connection);
    assert.deepEqual(await gateway.close(), { closed: 1, left: 0, terminated: 1 });
  });
});
