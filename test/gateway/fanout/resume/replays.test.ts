import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventScheduler } from '../../../../src/gateway/fanout/scheduling/event-scheduler.ts';
import { Replays } from '../../../../src/gateway/fanout/resume/replays.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ignore = (): void => undefined;

function createReplays() {
  const scheduler = new EventScheduler({ flush: ignore, isFull: false });
  return { scheduler, replays: new Replays(scheduler, ignore) };
}

describe('Replays', () => {
  it('run no replay between the arrival of a live event and its turn', async () => {
    const { scheduler, replays } = createReplays();
    const slicesBefore: number[] = [];
    let slices = 0;
    replays.add((isSpent) => {
      while (!isSpent());
      slices++;
      return slicesBefore.length < 20 ? 'served' : 'over';
    });
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
    replays.add(() => (++served === 3 ? 'over' : 'served'));
    for (; served < 3 && turns < 8; turns++) await nextTurn();
    isFlooded = false;
    assert.equal(served, 3, `after ${turns} turns`);
  });

  it('check a backpressured client after a delay, not in each turn', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { replays } = createReplays();
    let asked = 0;
    let served = 0;
    replays.add(() => {
      asked++;
      return 'waiting';
    });
    replays.add((isSpent) => {
      while (!isSpent());
      return ++served === 5 ? 'over' : 'served';
    });
    while (served < 5) await nextTurn();
    assert.equal(asked, 1);
    t.mock.timers.tick(10);
    while (asked < 2) await nextTurn();
    assert.equal(served, 5);
  });
});
