import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExecutionLoad } from '../../../src/bus/flow/channel-load.ts';
import type { Mark } from '../../../src/bus/flow/mark.ts';
import { Receiver } from '../../../src/bus/flow/receiver.ts';

const WINDOW = 65_536;

function createReceiver(sockets = 1) {
  let fill = 0;
  const receiver = new Receiver({
    gateway: 'pod',
    targetMs: 500,
    maxBytes: 8 * 1024 * 1024,
    maxExecuting: 100,
    sockets: () => sockets,
    fill: () => fill,
  });
  const mark = (bytes: number, more: Partial<Mark> = {}): Mark => ({ topic: 'bids', partition: 0, stream: 's', bytes, isQuestion: true, ...more }); // prettier-ignore
  return { receiver, intake: receiver.intake('bids', 0), mark, setFill: (to: number) => (fill = to) };
}

describe('Receiver', () => {
  it('gives no credit for a partition without messages', () => {
    const { receiver, mark } = createReceiver();
    assert.equal(receiver.onMark(mark(5_000), 0), undefined);
  });

  it('answers a mark with the served bytes plus a window', () => {
    const { receiver, intake, mark } = createReceiver();
    intake.arrive(5_000);
    assert.deepEqual(receiver.onMark(mark(5_000), 0), { stream: 's', gateway: 'pod', served: 0, bytes: WINDOW });
    intake.serve(4_000);
    assert.equal(receiver.onMark(mark(5_000), 1)!.bytes, 4_000 + WINDOW);
  }); // prettier-ignore

  it('answers a mark that requests no credit once half of the window is used', () => {
    const { receiver, intake, mark } = createReceiver();
    const pass = (bytes: number) => {
      intake.arrive(1);
      intake.serve(1);
      return receiver.onMark(mark(bytes, { isQuestion: false }), 0);
    };
    assert.ok(pass(1));
    assert.equal(pass(WINDOW / 2), undefined);
    assert.ok(pass(WINDOW / 2 + 1));
  });

  it('reduces the window past half of a channel’s execution limit, to nothing at the limit', () => {
    const { receiver, intake, mark } = createReceiver();
    const other = receiver.intake('bids', 1);
    const load = receiver.load();
    intake.arrive(1);
    let before = 0;
    const windowAt = (events: number, ofOthers = 0) => {
      load.add(intake, events - ofOthers - before);
      if (ofOthers > 0) load.add(other, ofOthers);
      before = events;
      const { bytes, served } = receiver.onMark(mark(1), 0)!;
      return bytes! - served;
    };
    assert.equal(windowAt(49), WINDOW);
    assert.equal(windowAt(75), WINDOW / 2);
    assert.equal(windowAt(100), 0);
    assert.equal(windowAt(300), 0);
    load.add(intake, -299);
    before = 1;
    assert.equal(windowAt(75, 74), WINDOW / 2, 'of all partitions together');
  });

  it('does not slow a partition for a channel that executes none of its events', () => {
    const { receiver, intake, mark } = createReceiver();
    intake.arrive(1);
    receiver.load().add(receiver.intake('bids', 1), 100);
    const { bytes, served } = receiver.onMark(mark(1), 0)!;
    assert.equal(bytes! - served, WINDOW);
  });

  it('counts an event by the fraction of its members that wait', () => {
    const { receiver, intake } = createReceiver();
    const load = receiver.load();
    const executing = new ExecutionLoad(intake, load, 1_000, { live: 4 });
    executing.add(1);
    assert.deepEqual([load.events, intake.executingBytes], [0.25, 250]);
    executing.add(3);
    assert.deepEqual([load.events, intake.executingBytes], [1, 1_000]);
    executing.add(-4);
    assert.deepEqual([load.events, intake.executingBytes], [0, 0]);
    assert.equal(load.has(intake), false);
  });

  it('does not slow a partition for the only client of a channel, among many sockets', () => {
    for (const [sockets, window] of [
      [64, 0],
      [4_000, WINDOW],
    ] as const) {
      const { receiver, intake, mark } = createReceiver(sockets);
      const load = receiver.load();
      intake.arrive(1);
      for (let event = 0; event < 1_000; event++) new ExecutionLoad(intake, load, 2_500, { live: 1 }).add(1);
      const { bytes, served } = receiver.onMark(mark(1), 0)!;
      assert.equal(bytes! - served, window);
    }
  });

  it('gives no credit while the queues of most sockets are full', () => {
    const { receiver, intake, mark, setFill } = createReceiver();
    intake.arrive(1);
    setFill(1);
    const { bytes, served } = receiver.onMark(mark(1), 0)!;
    assert.equal(bytes, served);
  });

  it('gives up a partition when its marks advance without messages, but not one that publishes nothing', () => {
    const { receiver, intake, mark } = createReceiver();
    intake.arrive(100);
    intake.serve(100);
    receiver.onMark(mark(100), 0);
    assert.notEqual(receiver.onMark(mark(100), 5_000)!.bytes, undefined);
    assert.notEqual(receiver.onMark(mark(200), 6_000)!.bytes, undefined);
    assert.equal(receiver.onMark(mark(300), 7_001)!.bytes, undefined);
    assert.equal(receiver.onMark(mark(400), 7_002), undefined);
    intake.arrive(100);
    assert.notEqual(receiver.onMark(mark(500), 7_003)!.bytes, undefined);
  });

  it('gives credit for the next lease of a partition', () => {
    const { receiver, intake, mark } = createReceiver();
    intake.arrive(9_000);
    receiver.onMark(mark(9_000), 0);
    intake.serve(9_000);
    intake.arrive(10);
    const credit = receiver.onMark(mark(10, { stream: 'next' }), 1);
    assert.deepEqual(credit, { stream: 'next', gateway: 'pod', served: 0, bytes: WINDOW });
  });

  it('gives each stream one final credit when the gateway drains', () => {
    const { receiver, intake, mark } = createReceiver();
    intake.arrive(1);
    receiver.onMark(mark(1), 0);
    assert.deepEqual(receiver.finalCredits(), [{ stream: 's', gateway: 'pod', served: 1, bytes: undefined }]);
    assert.deepEqual(receiver.finalCredits(), []);
  });
});
