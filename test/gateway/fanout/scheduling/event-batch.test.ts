import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventBatch } from '../../../../src/gateway/fanout/scheduling/event-batch.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';
import { SharingGroup } from '../../../../src/gateway/fanout/sharing/sharing-group.ts';
import { SharedEvent } from '../../../../src/gateway/fanout/sharing/sharing.ts';
import { Subscription } from '../../../../src/gateway/fanout/subscription.ts';
import { WaitLists } from '../../../../src/gateway/fanout/outbox/wait-list.ts';
import { Executions } from '../../../../src/graph/execution/executions.ts';
import { factsOf } from '../stage.ts';
import { anyOperation } from '../../../support/any-operation.ts';

const OPERATION = anyOperation();

function startedEvent(text: string) {
  const execute = () => ({ json: [Buffer.from(text)], reads: undefined });
  return { execute, repeat: execute };
}

const NOT_SPENT = () => false;
const SPENT = () => true;

function createBatch(count: number) {
  const group = new SharingGroup('g');
  /** `member:event`, in the order of delivery. */
  const delivered: string[] = [];
  const calls: string[] = [];
  const memberOf = (id: string) =>
    new Subscription({
      id,
      operation: OPERATION,
      variables: undefined,
      facts: factsOf(id, {}),
      outbox: {
        format: TRANSPORT_WS,
        sendParts: (_, { pieces }) => delivered.push(`${id}:${Buffer.concat(pieces).toString().slice(0, -2)}`) > 0,
        isBackpressured: false,
        isBehind: false,
        waitList: (wait) => new WaitLists()[wait],
        passRoom: () => undefined,
      },
      owner: {
        onFailure: () => assert.fail('failed'),
        onComplete: () => assert.fail('completed'),
        onBehind: () => assert.fail('behind'),
      },
      maxPendingEvents: 100,
    });
  const members = Array.from({ length: count }, (_, i) => memberOf(String(i)));
  for (const member of members) group.members.add(member);
  const batch = new EventBatch(group, {
    onShared: () => void calls.push(`shared after ${delivered.length}`),
    onServed: (taken) => void calls.push(`served ${taken.map(({ length }) => length).join(' ')}`),
    isHeld: () => false,
  });
  const add = (event: string, length = 1) =>
    batch.add(
      new SharedEvent(group, startedEvent(event), { schedule: () => assert.fail(), executions: new Executions() }),
      length,
    );
  return { group, members, batch, add, delivered, calls, memberOf };
}

describe('EventBatch', () => {
  it('gives a member all events, in their order, before the next member', () => {
    const { batch, add, delivered, calls } = createBatch(2);
    add('a', 10);
    add('b', 20);
    assert.equal(batch.serve(SPENT), true);
    assert.deepEqual(delivered, ['0:a', '0:b', '1:a', '1:b']);
    assert.deepEqual(calls, ['served 30']);
  });

  it('stops after 16 results if its time is spent, and continues with the next member', () => {
    const { batch, add, delivered, calls } = createBatch(40);
    add('a');
    assert.equal(batch.serve(SPENT), false);
    assert.equal(delivered.length, 16);
    assert.equal(batch.serve(NOT_SPENT), true);
    assert.deepEqual(
      delivered,
      Array.from({ length: 40 }, (_, i) => `${i}:a`),
    );
    assert.deepEqual(calls, ['shared after 32', 'served 1']);
  });

  it('reads the clock after every 16 results, whatever events they are of', () => {
    const { batch, add, delivered } = createBatch(40);
    for (const event of ['a', 'b', 'c', 'd']) add(event);
    const looks: number[] = [];
    batch.serve(() => looks.push(delivered.length) === 0);
    assert.deepEqual(
      looks,
      Array.from({ length: 10 }, (_, i) => (i + 1) * 16),
    );
  });

  it('reports that results were shared, unless one of them needed an execution', () => {
    const { batch, add, calls } = createBatch(50);
    add('a');
    batch.serve(NOT_SPENT);
    assert.deepEqual(calls, ['shared after 32', 'shared after 48', 'served 1']);
  });

  it('serves the members that the group has when the batch begins', () => {
    const { group, members, batch, add, delivered, memberOf } = createBatch(20);
    add('a');
    batch.serve(SPENT);
    group.members.add(memberOf('late'));
    members[18]!.end();
    batch.serve(NOT_SPENT);
    assert.equal(delivered.length, 19);
    assert.ok(!delivered.includes('late:a') && !delivered.includes('18:a'));
  });

  it('accepts events until it begins, at most 32', () => {
    const full = createBatch(1);
    for (let i = 0; i < 32; i++) {
      assert.equal(full.batch.isOpen, true);
      full.add('a');
    }
    assert.equal(full.batch.isOpen, false);
    const begun = createBatch(20);
    begun.add('a');
    begun.batch.serve(SPENT);
    assert.equal(begun.batch.isOpen, false);
  });

  it('is removed from the group when every member is served, unless a newer batch has replaced it', () => {
    const one = createBatch(20);
    one.group.batch = one.batch;
    one.add('a');
    one.batch.serve(SPENT);
    assert.equal(one.group.batch, one.batch);
    one.batch.serve(SPENT);
    assert.equal(one.group.batch, undefined);
    const other = createBatch(20);
    other.add('a');
    other.group.batch = one.batch;
    other.batch.serve(NOT_SPENT);
    assert.equal(other.group.batch, one.batch);
  });
});
