import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Outstanding } from '../../../loadtest/fanout/client/outstanding.ts';

describe('Outstanding', () => {
  it('completes an event when the last socket has received it, and measures the time since its publish', () => {
    const accounts = new Outstanding(3, 2, true);
    accounts.publish(100);
    accounts.publish(110);
    const deliver = (socket: number, now: number) => accounts.deliver(socket, () => now);
    assert.deepEqual([deliver(0, 120), deliver(0, 121), deliver(1, 122)], [false, false, false]);
    assert.equal(deliver(2, 130), true);
    assert.deepEqual([deliver(1, 131), deliver(2, 135)], [false, true]);
    assert.deepEqual(accounts.latenciesMs, [30, 25]);
    assert.equal(accounts.outstanding, 0);
    assert.deepEqual(accounts.losses(), { expected: 6, delivered: 6, unequalSockets: 0 });
  });

  it('reports lost deliveries', () => {
    const accounts = new Outstanding(3, 1, true);
    accounts.publish(0);
    for (const socket of [0, 2]) accounts.deliver(socket, () => 1);
    assert.equal(accounts.outstanding, 1);
    assert.deepEqual(accounts.losses(), { expected: 3, delivered: 2, unequalSockets: 1 });
  });

  it('reports a loss at one socket although another received a duplicate', () => {
    const accounts = new Outstanding(2, 1, true);
    accounts.publish(0);
    for (const socket of [0, 0]) accounts.deliver(socket, () => 1);
    assert.deepEqual(accounts.losses(), { expected: 2, delivered: 2, unequalSockets: 2 });
  });

  it('tracks events for one socket each', () => {
    const accounts = new Outstanding(4, 2, false);
    accounts.publish(0, 3);
    accounts.publish(5, 1);
    assert.equal(
      accounts.deliver(1, () => 6),
      true,
    );
    assert.equal(
      accounts.deliver(3, () => 9),
      true,
    );
    assert.deepEqual(accounts.latenciesMs, [1, 9]);
    accounts.deliver(0, () => 10);
    assert.deepEqual(accounts.losses(), { expected: 2, delivered: 3, unequalSockets: 1 });
  });

  it('tracks events for one socket each that complete in another order than published', () => {
    const accounts = new Outstanding(4, 2, false);
    const deliver = (socket: number, now: number) => accounts.deliver(socket, () => now);
    accounts.publish(0, 0);
    accounts.publish(1, 1);
    assert.equal(deliver(1, 2), true);
    accounts.publish(3, 2);
    assert.equal(deliver(2, 4), true);
    assert.equal(accounts.outstanding, 1);
    assert.equal(deliver(0, 9), true);
    assert.equal(accounts.outstanding, 0);
    assert.deepEqual(accounts.latenciesMs, [1, 1, 9]);
  });

  it('rejects more outstanding events than sockets when each event is for one socket', () => {
    assert.throws(() => new Outstanding(1, 2, false), /at most 1 outstanding/);
  });
});
