import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outbox } from '../../../src/gateway/fanout/outbox/outbox.ts';
import { relieve } from '../../../src/gateway/connections/memory-relief.ts';
import { openSocket } from '../../support/socket.ts';
import { startBareGateway } from '../websocket/bare-gateway.ts';

const KIB = 1024;

/** Closes connections that hold so many KiB; returns what the closed ones held. */
function closedOf(held: readonly number[], bytes: number) {
  const closed: number[] = [];
  const connections = held.map((kib) => ({ heldBytes: kib * KIB, discard: () => closed.push(kib) }));
  const relief = relieve(connections, bytes);
  assert.equal(relief.closed, closed.length);
  assert.equal(
    relief.bytes,
    closed.reduce((sum, kib) => sum + kib * KIB, 0),
  );
  return closed;
}

describe('relieve', () => {
  const many = (count: number, kib: number) => Array.from({ length: count }, () => kib);

  it('closes the connections that hold most, until they held enough', () => {
    const held = [...many(37, 1), 300, 100, 200];
    assert.deepEqual(closedOf(held, 300 * KIB), [300]);
    assert.deepEqual(closedOf(held, 301 * KIB), [300, 200]);
  });

  it('closes a tenth of the connections at most', () => {
    assert.deepEqual(closedOf(many(40, 100), Infinity).length, 4);
    assert.deepEqual(closedOf([100, 100], Infinity).length, 1);
  });

  it('closes nobody who holds less than 64 KiB', () => {
    assert.deepEqual(closedOf([63, 63, 63], Infinity), []);
    assert.deepEqual(closedOf([], Infinity), []);
  });
});

describe('a gateway that must free memory', () => {
  it('closes the connection with the largest queue with 1013 and drops its messages', async (t) => {
    const { gateway, url, writer, counts } = await startBareGateway(t);
    const outboxes: Outbox[] = [];
    const schedule = writer.schedule.bind(writer);
    writer.schedule = (outbox) => {
      outboxes.push(outbox as Outbox);
      schedule(outbox);
    };
    const [lagging, other] = [await openSocket(t, url), await openSocket(t, url)];
    for (const socket of [lagging, other]) await socket.init();
    lagging.pause();
    const outbox = outboxes[0]!;
    const message = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(100_000) } });
    while (outbox.queuedBytes < 500_000) outbox.send(message);
    assert.deepEqual(gateway.connections.relieve(1).closed, 1);
    assert.equal(writer.backpressuredBytes, 0);
    assert.equal(gateway.connections.discardedCount, 1);
    assert.equal(counts.slowConsumers, 0);
    lagging.resume();
    assert.deepEqual(await lagging.expectClose(), { code: 1013, reason: 'The server is short of memory' });
    assert.ok(other.isOpen);
  });
});
