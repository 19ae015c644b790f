import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Users } from '../../../src/gateway/connections/users.ts';

function stage(maxConnections: number, maxOperations = 0) {
  const users = new Users({ maxConnections, maxOperations });
  const closed: Peer[] = [];
  class Peer {
    operations = { size: 0 };
    idleSeconds = 60;
    close(code: number): void {
      assert.equal(code, 1013);
      closed.push(this);
      users.delete('ida', this);
    }
  }
  const add = (change: Partial<Pick<Peer, 'operations' | 'idleSeconds'>> = {}, user = 'ida') => {
    const peer = Object.assign(new Peer(), change);
    return users.add(user, peer) ? peer : undefined;
  };
  return { users, closed, add };
}

const BUSY = { operations: { size: 1 }, idleSeconds: 0 };

describe('the connections of a user', () => {
  it('past the limit: the oldest one that is idle makes room', () => {
    const { closed, add } = stage(3);
    add(BUSY);
    const [idle, other] = [add(), add()];
    assert.ok(add());
    assert.deepEqual(closed, [idle]);
    assert.ok(add());
    assert.deepEqual(closed, [idle, other]);
  });

  it('past the limit: a new one is refused if all others have an operation or had one within 10 s', () => {
    const { closed, add } = stage(2);
    assert.ok(add(BUSY) && add({ idleSeconds: 9 }));
    assert.equal(add(), undefined);
    assert.ok(add({}, 'ben'));
    assert.equal(closed.length, 0);
  });

  it('have room, without a close, while one of them is idle', () => {
    const { users, closed, add } = stage(2);
    assert.ok(add(BUSY) && users.hasRoom('ida') && add());
    assert.deepEqual([users.hasRoom('ida'), closed.length], [true, 0]);
    add(BUSY);
    assert.deepEqual([users.hasRoom('ida'), users.hasRoom('ben'), closed.length], [false, true, 1]);
  });

  it('have room again when one has ended, however often its end is told', () => {
    const { users, add } = stage(2);
    const [first] = [add(BUSY)!, add(BUSY)];
    users.delete('ida', first);
    users.delete('ida', first);
    assert.ok(add(BUSY));
    assert.equal(add(BUSY), undefined);
  });

  it('have no limit with 0', () => {
    const { add, users } = stage(0);
    const peers = Array.from({ length: 1000 }, () => add(BUSY)!);
    assert.equal(users.operationRefusal('ida'), undefined);
    for (const peer of peers) users.delete('ida', peer);
  });

  it('share the limit of operations, which names its setting', () => {
    const { users, add } = stage(0, 5);
    add({ operations: { size: 2 } });
    const other = add({ operations: { size: 2 } })!;
    assert.equal(users.operationRefusal('ida'), undefined);
    other.operations.size = 3;
    assert.match(users.operationRefusal('ida')!, /may have 5 operations .*\(10 times MAX_OPERATIONS_PER_CONNECTION\)/);
    assert.equal(users.operationRefusal('ben'), undefined);
  });
});
