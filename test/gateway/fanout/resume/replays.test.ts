import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventScheduler } from '../../../../src/gateway/fanout/scheduling/event-scheduler.ts';
import { WaitLists } from '../../../../src/gateway/fanout/outbox/wait-list.ts';
import type { Wait } from '../../../../src/gateway/fanout/outbox/wait-list.ts';
import { Replays } from '../../../../src/gateway/fanout/resume/replays.ts';
import type { Turn } from '../../../../src/gateway/fanout/resume/replays.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ignore = (): void => undefined;

function createReplays() {
  const scheduler = new EventScheduler({ flush: ignore, isFull: false });
  return { scheduler, replays: new Replays(scheduler, ignore) };
}

/** Turns of the subscriptions of one client. */
function createClient() {
  const waits = new WaitLists();
  const member = {
    awaitRoom: (wait: Wait, onRoom: () => void) => {
      waits[wait].add(onRoom);
      return () => waits[wait].delete(onRoom);
    },
    passRoom: () => waits.wakeNext(),
  };
  return { waits, turn: (serve: Turn['serve']): Turn => ({ member, serve }) };
}

const { turn } = createClient();

describe('Replays', () => {
  it('run no replay between the arrival of a live event and its turn', async () => {
    const { scheduler, replays } = createReplays();
    const slicesBefore: number[] = [];
    let slices = 0;
    const slice = turn((isSpent) => {
      while (!isSpent());
      slices++;
      return slicesBefore.length < 20 ? 'served' : 'over';
    });
    replays.add(slice);
    const arrive = () => {
      const before = slices;
      scheduler.schedule(() => {
        slicesBefore.push(slices - before);
        if (slicesBefore.length < 20) setTimeout(arrive);
        return true;
      });
    };
    setTimeout(arrive);
    await waitFor('all events', () => slicesBefore.length === 20);
    assert.deepEqual(new Set(slicesBefore), new Set([0]));
  });

  it('go on in each turn while more live events wait than a turn serves', async () => {
    const { scheduler, replays } = createReplays();
    let isFlooded = true;
    const live = (isSpent: () => boolean) => {
      while (isFlooded && !isSpent());
      if (isFlooded) scheduler.schedule(live);
      return true;
    };
    for (let i = 0; i < 10; i++) scheduler.schedule(live);
    let turns = 0;
    let served = 0;
    replays.add(turn(() => (++served === 3 ? 'over' : 'served')));
    for (; served < 3 && turns < 8; turns++) await nextTurn();
    isFlooded = false;
    assert.equal(served, 3, `after ${turns} turns`);
  });

  it('look at clients that wait once a second, and at one subscription of a client when it has room', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { replays } = createReplays();
    const client = createClient();
    let asked = 0;
    let room = 0;
    const turns = Array.from({ length: 50 }, () =>
      client.turn(() => {
        asked++;
        if (room === 0) return 'behind';
        room--;
        return 'served';
      }),
    );
    for (const each of turns) replays.add(each);
    await waitFor('all turns', () => asked === 50);
    t.mock.timers.tick(999);
    await nextTurn();
    await nextTurn();
    assert.equal(asked, 50);
    room = 3;
    client.waits.behind.wakeNext();
    await waitFor('its room', () => room === 0);
    for (let i = 0; i < 20; i++) await nextTurn();
    assert.ok(asked < 50 + 3 + 8, `${asked}`);
    const before = asked;
    t.mock.timers.tick(1);
    await waitFor('a look', () => asked >= before + 50);
    for (const each of turns) replays.delete(each);
    client.waits.behind.wakeNext();
    t.mock.timers.tick(2000);
    const after = asked;
    for (let i = 0; i < 5; i++) await nextTurn();
    assert.equal(asked, after);
  });

  it('pass on the room of one that ends before its turn', async () => {
    const { replays } = createReplays();
    const client = createClient();
    let hasRoom = false;
    let asked = 0;
    let served = 0;
    const [first, second] = [1, 2].map(() =>
      client.turn(() => {
        asked++;
        if (!hasRoom) return 'behind';
        served++;
        return 'over';
      }),
    );
    replays.add(first!);
    replays.add(second!);
    await waitFor('both turns', () => asked === 2);
    hasRoom = true;
    client.waits.behind.wakeNext();
    replays.delete(first!);
    for (let i = 0; i < 5 && served === 0; i++) await nextTurn();
    assert.equal(served, 1);
  });
});
