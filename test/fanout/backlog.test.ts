import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Backlog } from '../../src/fanout/backlog.ts';
import { SharingGroup } from '../../src/fanout/sharing/sharing.ts';
import { Subscription } from '../../src/fanout/subscription.ts';
import { waitFor } from '../support/wait-for.ts';
import { factsOf } from './stage.ts';

const MIB = 1024 * 1024;

/** A backlog and a group whose members note what they get. */
function createBacklog(members = 1) {
  const received: string[] = [];
  let flushes = 0;
  const writer = { flush: () => void flushes++, isFull: false };
  const backlog = new Backlog(writer);
  const group = new SharingGroup('g');
  for (let i = 0; i < members; i++) {
    group.members.add(
      new Subscription({
        id: String(i),
        operation: undefined as never,
        variables: undefined,
        facts: factsOf(`c${i}`, {}),
        outbox: {
          sendParts: (_, { pieces }) => received.push(Buffer.concat(pieces).toString()) > 0,
          refuse: () => assert.fail('refused'),
          isBehind: false,
        },
        owner: { onFailure: () => assert.fail('failed') },
        maxPendingEvents: 100,
      }),
    );
  }
  const add = (event: string, length: number) =>
    backlog.add(group, () => ({ json: [Buffer.from(event)], reads: undefined }), { cursor: undefined, length });
  return { backlog, group, writer, add, received, flushes: () => flushes };
}

describe('Backlog', () => {
  it('serves events when their turn comes, in their order, and flushes', async () => {
    const { backlog, add, received, flushes } = createBacklog();
    for (const event of ['1', '2', '3']) add(event, MIB);
    backlog.enqueue(() => received.push('between') > 0);
    backlog.keepBound();
    assert.deepEqual(received, []);
    await waitFor('the flush', () => received.length === 4 && flushes() > 0);
    assert.deepEqual(received, ['1}', '2}', '3}', 'between']);
  });

  it('writes before it goes on where much waits to be written, and else when its turn ends', async () => {
    for (const [isFull, events] of [
      [false, 16],
      [true, 15],
      [true, 16],
    ] as const) {
      const { backlog, writer, add, received, flushes } = createBacklog(30);
      writer.isFull = isFull;
      backlog.enqueue(() => true);
      for (let event = 1; event <= events; event++) add(`${event}`, 1);
      await waitFor('the results', () => received.length === 30 * events && flushes() > 0);
      // After each member but the first, which took executions; or when a turn ends, of which a busy machine needs a few.
      assert.equal(flushes() >= 29, isFull && events === 16, `${flushes()} flushes`);
    }
  });

  it('serves at once what waits, when that is more than 8 MiB', () => {
    const { backlog, add, received, flushes } = createBacklog();
    add('1', 4 * MIB);
    add('2', 4 * MIB);
    backlog.keepBound();
    assert.deepEqual([received, flushes()], [[], 0]);
    add('3', 1);
    backlog.keepBound();
    assert.deepEqual([received, flushes()], [['1}', '2}', '3}'], 1]);
  });

  it('does not count what was served', async () => {
    const { backlog, add, received } = createBacklog();
    for (let i = 1; i <= 5; i++) {
      add(String(i), 5 * MIB);
      backlog.keepBound();
      assert.equal(received.length, i - 1);
      await waitFor('its turn', () => received.length === i);
    }
  });

  it('gives a member all events of a turn before the next member, at most 32 in a batch', async () => {
    const { add, received } = createBacklog(2);
    for (let i = 0; i < 40; i++) add(String(i), 1);
    await waitFor('all results', () => received.length === 80);
    const events = Array.from({ length: 40 }, (_, i) => `${i}}`);
    const [first, rest] = [events.slice(0, 32), events.slice(32)];
    assert.deepEqual(received, [...first, ...first, ...rest, ...rest]);
  });

  it('flushes during the only batch of a turn, so that the first members do not wait for the last', async () => {
    const { add, received, flushes } = createBacklog(50);
    add('1', 1);
    await waitFor('all results', () => received.length === 50);
    // After 32 and 48 results, and at the end.
    assert.ok(flushes() >= 3, `${flushes()} flushes`);
  });

  it('puts an event that comes during a batch into the next one', async () => {
    const { backlog, group, received } = createBacklog(2);
    const result = (event: string) => ({ json: [Buffer.from(event)], reads: undefined });
    let isFirst = true;
    const execute = () => {
      if (isFirst) backlog.add(group, () => result('second'), { cursor: undefined, length: 1 });
      isFirst = false;
      return result('first');
    };
    backlog.add(group, execute, { cursor: undefined, length: 1 });
    await waitFor('all results', () => received.length === 4);
    assert.deepEqual(received, ['first}', 'first}', 'second}', 'second}']);
  });
});
