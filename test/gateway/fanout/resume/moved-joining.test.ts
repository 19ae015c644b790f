import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';

const CHANNEL = 't{}';
const HISTORY = { entries: 2500, bytes: 10_000_000, seconds: 60 };
const MISSED = 200;

describe('a client that resumes while its operation moves to another graph', () => {
  for (const key of ['of the new graph', undefined]) {
    it(`receives each event once, and no later one of the former operation: sharing key ${key}`, async (t) => {
      const sdl = 'type Subscription { item: Item @kafka(topic: "t") } type Item { n: Int secret: Int }';
      const stage = await createStage(t, { sdl, cursors: new Cursors('secret') });
      const { bus, runtime } = stage;
      await bus.acquire({ topic: 't', partition: 0, position: -1 });
      let offset = 0;
      const publish = async (count: number) => {
        for (const end = offset + count; offset < end; offset++) {
          const message = { channel: CHANNEL, payload: JSON.stringify({ n: offset, secret: 1 }), offset, timestamp: 0 };
          await bus.publish([{ ...message, history: HISTORY }], { topic: 't', partition: 0, offset });
        }
      };
      const first = await stage.join('subscription { item { n } }', factsOf('first', {}));
      await publish(MISSED + 1);
      await waitFor('the first events', () => first.received.length === MISSED + 1);
      const { cursor } = (JSON.parse(first.received[0]!) as { extensions: { cursor: string } }).extensions;
      const start = { cursor, replaysLast: false };
      const slow = await stage.join('subscription { item { n secret } }', factsOf('slow', {}), undefined, start);
      slow.socket.isBackpressured = true;
      const before = slow.received.length;
      assert.ok(before < MISSED, 'it has not caught up');
      const operation = runtime.prepare({ query: 'subscription { item { n } }' }, undefined);
      assert.ok(!('errors' in operation));
      slow.subscription.operation = operation;
      stage.hub().move(CHANNEL, key, slow.subscription);
      await publish(2);
      slow.socket.isBackpressured = false;
      await waitFor('all events', () => slow.received.length === MISSED + 2);
      const items = slow.received.map((text) => (JSON.parse(text) as { data: { item: { n: number } } }).data.item);
      assert.deepEqual(
        items.map(({ n }) => n),
        Array.from({ length: MISSED + 2 }, (_, i) => i + 1),
      );
      assert.deepEqual(items.slice(-2), [{ n: MISSED + 1 }, { n: MISSED + 2 }]);
      slow.leave();
      first.leave();
      assert.deepEqual([stage.channelCount(), stage.heldBytes()], [0, 0]);
    });
  }
});
