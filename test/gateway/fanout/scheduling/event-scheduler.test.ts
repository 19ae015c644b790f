import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventScheduler } from '../../../../src/gateway/fanout/scheduling/event-scheduler.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';
import { SharedEvent } from '../../../../src/gateway/fanout/sharing/sharing.ts';
import { SharingGroup } from '../../../../src/gateway/fanout/sharing/sharing-group.ts';
import { Subscription } from '../../../../src/gateway/fanout/subscription.ts';
import { WaitLists } from '../../../../src/gateway/fanout/outbox/wait-list.ts';
import { Executions } from '../../../../src/graph/execution/executions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { factsOf } from '../stage.ts';
import { anyOperation } from '../../../support/any-operation.ts';

const OPERATION = anyOperation();

const MIB = 1024 * 1024;

/** A scheduler and a group whose members record the events that they receive. */
function createScheduler(members = 1) {
  const received: string[] = [];
  let flushes = 0;
  const writer = { flush: () => void flushes++, isFull: false };
  const scheduler = new EventScheduler(writer);
  const executions = new Executions();
  const group = new SharingGroup('g');
  for (let i = 0; i < members; i++) {
    group.members.add(
      new Subscription({
        id: String(i),
        operation: OPERATION,
        variables: undefined,
        facts: factsOf(`c${i}`, {}),
        outbox: {
          format: TRANSPORT_WS,
          sendParts: (_, { pieces }) => received.push(Buffer.concat(pieces).toString().slice(0, -1)) > 0,
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
      }),
    );
  }
  const eventOf = (execute: () => { json: Buffer[]; reads: undefined }) =>
    new SharedEvent(group, { execute, repeat: execute }, { schedule: scheduler.schedule, executions });
  const add = (event: string, length: number) =>
    scheduler.add(group, eventOf(() => ({ json: [Buffer.from(event)], reads: undefined })), { length }); // prettier-ignore
  return { scheduler, group, writer, add, eventOf, received, flushes: () => flushes };
}

describe('EventScheduler', () => {
  it('serves events in the order of their arrival, then flushes', async () => {
    const { scheduler, add, received, flushes } = createScheduler();
    for (const event of ['1', '2', '3']) add(event, MIB);
    scheduler.schedule(() => received.push('between') > 0);
    scheduler.keepBound();
    assert.deepEqual(received, []);
    await waitFor('the flush', () => received.length === 4 && flushes() > 0);
    assert.deepEqual(received, ['1}', '2}', '3}', 'between']);
  });

  it('flushes during a batch if many bytes wait to be written, else at the end of its turn', async () => {
    for (const [isFull, events] of [
      [false, 16],
      [true, 15],
      [true, 16],
    ] as const) {
      const { scheduler, writer, add, received, flushes } = createScheduler(30);
      writer.isFull = isFull;
      for (let event = 1; event <= events; event++) add(`${event}`, 1);
      // Waits behind the batch: a batch alone in a turn flushes for that reason, also in its second turn on a busy machine.
      scheduler.schedule(() => true);
      await waitFor('the results', () => received.length === 30 * events && flushes() > 0);
      // After each member except the first, which needed executions; or at the end of a turn: a busy machine needs several turns.
      assert.equal(flushes() >= 29, isFull && events === 16, `${flushes()} flushes`);
    }
  });

  it('serves all waiting events at once if they exceed 8 MiB', () => {
    const { scheduler, add, received, flushes } = createScheduler();
    add('1', 4 * MIB);
    add('2', 4 * MIB);
    scheduler.keepBound();
    assert.deepEqual([received, flushes()], [[], 0]);
    add('3', 1);
    scheduler.keepBound();
    assert.deepEqual([received, flushes()], [['1}', '2}', '3}'], 1]);
  });

  it('does not count events that have been served', async () => {
    const { scheduler, add, received } = createScheduler();
    for (let i = 1; i <= 5; i++) {
      add(String(i), 5 * MIB);
      scheduler.keepBound();
      assert.equal(received.length, i - 1);
      await waitFor('the event', () => received.length === i);
    }
  });

  it('gives a member all events of a turn before the next member, at most 32 in a batch', async () => {
    const { add, received } = createScheduler(2);
    for (let i = 0; i < 40; i++) add(String(i), 1);
    await waitFor('all results', () => received.length === 80);
    const events = Array.from({ length: 40 }, (_, i) => `${i}}`);
    const [first, rest] = [events.slice(0, 32), events.slice(32)];
    assert.deepEqual(received, [...first, ...first, ...rest, ...rest]);
  });

  it('flushes during the only batch of a turn, so that the first members do not wait for the last', async () => {
    const { add, received, flushes } = createScheduler(50);
    add('1', 1);
    await waitFor('all results', () => received.length === 50);
    // After 32 and 48 results, and at the end.
    assert.ok(flushes() >= 3, `${flushes()} flushes`);
  });

  it('adds an event that arrives during a batch to the next batch', async () => {
    const { scheduler, group, eventOf, received } = createScheduler(2);
    const result = (event: string) => ({ json: [Buffer.from(event)], reads: undefined });
    let isFirst = true;
    const execute = () => {
      if (isFirst)
        scheduler.add(
          group,
          eventOf(() => result('second')),
          { length: 1 },
        );
      isFirst = false;
      return result('first');
    };
    scheduler.add(group, eventOf(execute), { length: 1 });
    await waitFor('all results', () => received.length === 4);
    assert.deepEqual(received, ['first}', 'first}', 'second}', 'second}']);
  });
});
