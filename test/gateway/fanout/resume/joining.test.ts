import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HeldBytes } from '../../../../src/gateway/fanout/resume/replay-bytes.ts';
import { HeldEvents } from '../../../../src/gateway/fanout/resume/held-events.ts';
import { HistoryRead } from '../../../../src/gateway/fanout/resume/history-reads.ts';
import { Joining } from '../../../../src/gateway/fanout/resume/joining.ts';
import { ChannelEvent } from '../../../../src/gateway/fanout/channel-event.ts';
import { TextPayload } from '../../../../src/graph/payload.ts';
import type { Subscription } from '../../../../src/gateway/fanout/subscription.ts';

function live(offset: number, entry: string, previous: string): ChannelEvent {
  const coordinates = { epoch: 5, partition: 0, offset, timestamp: 0, entry, previous };
  const payload = new TextPayload(Buffer.from('{}'), () => undefined);
  return new ChannelEvent(payload, coordinates, 2, { cursorOf: () => undefined });
}

/** A subscription that resumes; the history has one entry, of offset 8. */
function stage() {
  const counts = { gaps: 0 };
  const held = new HeldEvents(new HeldBytes());
  const subscription = { expectReplay: () => undefined } as unknown as Subscription;
  const joining = new Joining(subscription, undefined, undefined, held, () => void counts.gaps++);
  const coordinates = { epoch: 5, partition: 0, offset: 8, timestamp: 0, entry: '2-0' };
  return { held, joining, replayed: { payload: Buffer.from('{}'), coordinates }, counts };
}

it('delivers each event once if a chunk that failed midway is repeated after the history was read', () => {
  const { held, joining, replayed, counts } = stage();
  const read = new HistoryRead('1-0', held.end, { epoch: 5, entries: [replayed] });
  held.add(live(8, '3-0', '2-0'));
  joining.resumeAfter({ epoch: 5, partition: 0, offset: 7, entry: '1-0' });
  const next = live(9, '4-0', '3-0');
  held.add(next);
  joining.startWith({ entries: [replayed], read });
  const first = live(8, '2-0', '1-0');
  assert.equal(
    joining.next(() => first),
    first,
  );
  const eventOf = () => assert.fail('the history has one entry');
  assert.equal(joining.next(eventOf), next);
  assert.equal(joining.next(eventOf), undefined);
  assert.equal(joining.advanceTo(live(9, '5-0', '4-0')), false);
  assert.equal(joining.advanceTo(live(10, '6-0', '5-0')), true);
  assert.equal(counts.gaps, 0);
  assert.equal(joining.advanceTo(live(12, '8-0', '7-0')), true);
  assert.equal(counts.gaps, 1);
});

it('reports one gap if held events are dropped during the replay of the history', () => {
  const { held, joining, replayed, counts } = stage();
  joining.resumeAfter({ epoch: 5, partition: 0, offset: 7, entry: '1-0' });
  joining.startWith({ entries: [replayed], read: new HistoryRead('1-0', held.end, { epoch: 5, entries: [replayed] }) });
  for (const dropped of [live(9, '3-0', '2-0'), live(10, '4-0', '3-0')]) held.add(dropped);
  held.dropBefore(2);
  for (let times = 0; times < 2; times++) joining.skipTo(2);
  assert.equal(counts.gaps, 1);
  const first = live(8, '2-0', '1-0');
  assert.equal(
    joining.next(() => first),
    first,
  );
  assert.equal(joining.advanceTo(live(11, '5-0', '4-0')), true);
  assert.equal(counts.gaps, 1);
  assert.equal(joining.advanceTo(live(13, '7-0', '6-0')), true);
  assert.deepEqual([counts.gaps, joining.hasOverflowed], [2, false]);
});
