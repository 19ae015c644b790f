import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Joining } from '../../src/fanout/joining.ts';
import type { ChannelEvent } from '../../src/fanout/live-channel.ts';
import { TextPayload } from '../../src/graph/payload.ts';
import type { Subscription } from '../../src/fanout/subscription.ts';

function live(offset: number, entry: string, previous: string): ChannelEvent {
  const coordinates = { epoch: 5, partition: 0, offset, timestamp: 0, entry, previous };
  const payload = new TextPayload(Buffer.from('{}'), () => undefined);
  return { payload, coordinates, cursor: undefined, length: 2 };
}

it('has an event once where a chunk that failed half-way was repeated after the history was read, and misses nothing', () => {
  let gaps = 0;
  const joining = new Joining({} as Subscription, undefined, () => void gaps++);
  const place = { epoch: 5, partition: 0, offset: 8, timestamp: 0, entry: '2-0' };
  const replayed = { payload: Buffer.from('{}'), coordinates: place };
  const repeated = live(8, '3-0', '2-0');
  assert.equal(joining.takes(repeated), false);
  joining.goOnBehind({ epoch: 5, partition: 0, offset: 7, entry: '1-0' });
  const next = live(9, '4-0', '3-0');
  assert.equal(joining.takes(next), false);
  assert.deepEqual(joining.release([replayed]), [next]);
  assert.equal(joining.takes(live(9, '5-0', '4-0')), false);
  assert.equal(joining.takes(live(10, '6-0', '5-0')), true);
  assert.equal(gaps, 0);
  assert.equal(joining.takes(live(12, '8-0', '7-0')), true);
  assert.equal(gaps, 1);
});
