import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusUnavailableError } from '../../../../src/base/errors.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int }`;
const IDS = Array.from({ length: 30 }, (_, i) => i);
const MAX_READS = 8;

describe('an outage of the bus', () => {
  it('is followed by a backfill of every channel, eight reads at a time, even after failed reads', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const { bus } = stage;
    const link = { isDeaf: false };
    const gaps: (() => void)[] = [];
    const subscribe = bus.subscribe.bind(bus);
    bus.subscribe = (channel, listener, onGap) => {
      gaps.push(onGap!);
      return subscribe(channel, (...message) => void (link.isDeaf || listener(...message)), onGap);
    };
    const history = bus.history.bind(bus);
    /** Functions that end the reads in flight. */
    const reads: { readonly channel: string; readonly end: () => void }[] = [];
    let failures = 0;
    bus.history = async (channel, query) => {
      await new Promise<void>((resolve) => reads.push({ channel, end: resolve }));
      if (failures-- > 0) throw new BusUnavailableError('away');
      return history(channel, query);
    };
    await bus.acquire({ topic: 't', partition: 0, position: -1 });
    let offset = 0;
    const publish = async (n: number) => {
      for (const id of IDS) {
        const limits = { entries: 10, bytes: 10_000, seconds: 60 };
        const payload = JSON.stringify({ item: { id, n } });
        const message = { channel: `t{item.id="${id}"}`, payload, offset, timestamp: 0, history: limits };
        await bus.publish([message], { topic: 't', partition: 0, offset: offset++ });
      }
    };
    const listeners = await Promise.all(
      IDS.map((id) => stage.join(`subscription { item(id: ${id}) { n } }`, factsOf(`c${id}`, {}))),
    );
    const haveAll = (events: number) => listeners.every(({ received }) => received.length === events);
    await publish(0);
    for (const outage of [1, 2]) {
      link.isDeaf = true;
      await publish(outage);
      link.isDeaf = false;
      failures = outage === 1 ? MAX_READS : 0;
      for (const tellGap of gaps) tellGap();
      await nextTurn();
      const order: string[] = [];
      await waitFor('the missed events', async () => {
        while (reads.length > 0) {
          assert.ok(reads.length <= MAX_READS, `${reads.length} reads at a time`);
          if (order.length < IDS.length - MAX_READS) assert.equal(reads.length, MAX_READS);
          const { channel, end } = reads.shift()!;
          order.push(channel);
          end();
          await nextTurn();
        }
        return haveAll(outage + 1);
      });
      assert.deepEqual(
        order.slice(0, IDS.length),
        IDS.map((id) => `t{item.id="${id}"}`),
      );
    }
    assert.equal(stage.gapOperations, 0);
  });
});
