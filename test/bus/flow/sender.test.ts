import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Sender } from '../../../src/bus/flow/sender.ts';
import { waitFor } from '../../support/wait-for.ts';

const FIRST = 65_536;
const LEAST = 65_536;

function createSender(t: TestContext, patienceMs = 5_000, seek: (gateway: string) => void = () => undefined) {
  let questions = 0;
  const sender = new Sender({ patienceMs, ask: () => questions++, seek });
  t.after(() => sender.close());
  sender.open('bids', 0, 's');
  const room = (now = 0) => sender.room('bids', 0, now).bytes;
  const tell = (gateway: string, bytes: number | undefined, now = 0, stream = 's', served = 0) =>
    sender.onCredit({ stream, gateway, served, bytes }, now);
  return { sender, room, tell, asked: () => questions };
}

describe('Sender', () => {
  it('sets no limit without subscribers, and none for a partition that was not leased', (t) => {
    const { sender, room } = createSender(t);
    sender.add('s', 0);
    assert.equal(room(), Infinity);
    assert.deepEqual(sender.room('other', 0), { bytes: Infinity, gateway: undefined });
  });

  it('limits the first bytes until a gateway gives credit, and nothing if none does', (t) => {
    const { sender, room } = createSender(t);
    assert.equal(room(), FIRST);
    sender.add('s', 1_000);
    assert.equal(room(), FIRST - 1_000);
    sender.add('s', FIRST);
    assert.equal(room(10), 0);
    assert.equal(room(1_009), 0);
    assert.equal(room(1_010), Infinity);
  });

  it('keeps within the credit of the gateway with the least room, and names it', (t) => {
    const { sender, tell } = createSender(t);
    sender.add('s', 1_000);
    tell('a', 900_000);
    tell('b', 600_000);
    assert.deepEqual(sender.room('bids', 0), { bytes: 599_000, gateway: 'b' });
    sender.add('s', 598_999);
    assert.deepEqual(sender.room('bids', 0), { bytes: LEAST, gateway: 'b' });
    sender.add('s', 1);
    assert.deepEqual(sender.room('bids', 0), { bytes: 0, gateway: 'b' });
  });

  it('keeps within a window that the load of a gateway has reduced', (t) => {
    const { sender, room } = createSender(t);
    sender.add('s', 100_000);
    sender.onCredit({ stream: 's', gateway: 'a', served: 90_000, bytes: 101_000 });
    assert.equal(room(), 1_000);
    sender.onCredit({ stream: 's', gateway: 'a', served: 35_464, bytes: 101_000 });
    assert.equal(room(), LEAST);
  });

  it('stops waiting for a gateway without progress until it has room', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', 1_000);
    tell('a', 900_000);
    tell('b', 500);
    assert.equal(room(100), 0);
    tell('b', 500, 5_000);
    assert.equal(room(5_099), 0);
    assert.equal(room(5_100), 899_000);
    // Progress is not enough: the gateway lags by more than a window.
    tell('b', 900, 5_200);
    assert.equal(room(5_200), 899_000);
    tell('b', 200_000, 5_300);
    assert.equal(room(5_300), 199_000);
  });

  it('waits 250 ms for a gateway that is no longer subscribed while another is, and all of its patience for the last one', (t) => {
    const sought: string[] = [];
    const { sender, room, tell } = createSender(t, 5_000, (gateway) => sought.push(gateway));
    sender.add('s', 1_000);
    tell('a', 900_000);
    tell('b', 1_000);
    for (const gateway of ['a', 'b']) sender.onSought(gateway, true);
    assert.deepEqual(sought.splice(0), ['a', 'b'], 'each is sought once at first');
    assert.equal(room(49), 0);
    assert.equal(room(50), 0);
    assert.deepEqual(sought, ['b'], 'whether it is there');
    sender.onSought('b', false);
    assert.equal(room(298), 0);
    assert.equal(room(299), 899_000);

    tell('b', 1_000, 400);
    tell('b', 90_000, 400);
    assert.equal(room(400), 89_000, 'it is back');
    sender.add('s', 899_000);
    assert.equal(room(1_000), 0);
    for (const gateway of ['a', 'b']) sender.onSought(gateway, false);
    assert.equal(room(5_999), 0);
    assert.equal(room(6_000), Infinity);
  });

  it('waits for a silent gateway that was never found subscribed, as one of an earlier version', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', 1_000);
    tell('a', 900_000);
    tell('old', 1_000);
    assert.equal(room(100), 0);
    sender.onSought('old', false);
    assert.equal(room(5_099), 0);
    assert.equal(room(5_100), 899_000);
  });

  it('keeps waiting for a gateway that makes any progress', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', 100_000);
    for (let now = 0; now < 60_000; now += 4_000) {
      tell('a', 500, now, 's', now);
      assert.equal(room(now), 0);
    }
  });

  it('stops waiting for a gateway whose credit rises and falls while it serves nothing', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', 100_000);
    for (let now = 0; now < 5_000; now += 100) {
      tell('a', now % 200 === 0 ? 500 : 90_000, now);
      assert.equal(room(now), 0);
    }
    assert.equal(room(5_000), Infinity);
  });

  it('reaches full speed when the partition has no subscriber any more, however little room was left', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', 1_000);
    tell('a', 1_010);
    assert.equal(room(), 10);
    let chunks = 0;
    for (; chunks < 12 && room() < 1_048_576; chunks++) sender.add('s', 0);
    assert.ok(room() >= 1_048_576, `${room()} bytes`);
    sender.add('s', 5);
    assert.equal(room(), 5);
  });

  it('waits for a silent gateway once, not once for each partition', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.open('bids', 1, 'u');
    sender.add('s', 1_000);
    sender.add('u', 1_000);
    for (const stream of ['s', 'u']) {
      tell('dead', 2_000, 0, stream);
      tell('healthy', 90_000, 0, stream);
    }
    sender.add('s', 1_000);
    assert.equal(room(1_000), 0);
    assert.equal(room(6_000), 88_000);
    sender.add('u', 1_000);
    assert.equal(sender.room('bids', 1, 6_001).bytes, 88_000);
  });

  it('stops waiting for a gateway that drains, and for credit of the previous lease', (t) => {
    const { sender, room, tell } = createSender(t);
    sender.add('s', FIRST);
    tell('a', 0);
    assert.equal(room(), 0);
    tell('a', undefined);
    assert.equal(room(), Infinity);
    tell('a', 0);
    assert.equal(room(), 0);
    sender.open('bids', 0, 'next');
    tell('a', 0);
    assert.equal(room(), FIRST);
  });

  it('forgets gateways that have drained', (t) => {
    const { tell } = createSender(t);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapBytes = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const deploy = (from: number, count: number) => {
      for (let i = from; i < from + count; i++) {
        tell(`gateway-${i}`, 900_000, i * 100_000);
        tell(`gateway-${i}`, undefined, i * 100_000 + 1);
      }
    };
    deploy(0, 1_000);
    const before = heapBytes();
    deploy(1_000, 20_000);
    const grown = (heapBytes() - before) / 20_000;
    assert.ok(grown < 20, `${grown} bytes for each gateway`);
  });

  it('waits for a gateway that gave credit long ago, however many have appeared since', (t) => {
    const { sender, room, tell } = createSender(t);
    tell('a', 1_000);
    tell('b', 900_000, 100_000);
    sender.add('s', 1_000);
    assert.equal(room(100_000), 0);
    assert.equal(room(104_999), 0);
    assert.equal(room(105_000), 899_000);
  });

  it('reports the lag of gateways on active streams', (t) => {
    const { sender, tell } = createSender(t);
    sender.add('s', 1_000, 0);
    tell('a', 9_000);
    assert.deepEqual([...sender.lags(10_000)], [['a', 1_000]]);
    assert.deepEqual([...sender.lags(10_001)], []);
  });

  it('has a mark due after many bytes or some time, and requests credit when there is no more room', (t) => {
    const { sender, tell } = createSender(t);
    assert.deepEqual(sender.dueMark('s', 20_000, 0), { bytes: 0, isQuestion: false });
    sender.add('s', 20_000);
    assert.equal(sender.dueMark('s', 20_000, 10), undefined);
    sender.add('s', 20_000);
    assert.equal(sender.dueMark('s', 300_000, 20)?.bytes, 40_000);
    tell('a', 100_000);
    assert.deepEqual(sender.dueMark('s', 60_000, 21), { bytes: 40_000, isQuestion: true });
  });

  it('requests credit while it waits, and ends the wait by a credit, by a signal, and at close', async (t) => {
    const { sender, tell, asked } = createSender(t, 60_000);
    const { signal } = new AbortController();
    sender.add('s', 1_000);
    tell('a', 1_000, performance.now());
    const byCredit = sender.whenRoom('bids', 0, signal);
    await waitFor('questions', () => asked() > 1);
    tell('a', 2_000, performance.now());
    await byCredit;

    sender.add('s', 1_000);
    const aborting = new AbortController();
    tell('a', 2_000, performance.now());
    const bySignal = sender.whenRoom('bids', 0, aborting.signal);
    aborting.abort();
    await bySignal;
    await sender.whenRoom('bids', 0, aborting.signal);

    sender.open('bids', 1, 'u');
    sender.add('u', 2 * FIRST);
    const byClose = sender.whenRoom('bids', 1, signal);
    sender.close();
    await byClose;
  });

  it('ends the wait for a gateway that does not answer', async (t) => {
    const { sender, room, tell } = createSender(t, 100);
    sender.add('s', 1_000);
    tell('a', 1_000, performance.now());
    await sender.whenRoom('bids', 0, new AbortController().signal);
    assert.ok(room(performance.now()) > 0);
  });

  it('lets 20 partitions wait with one signal without a warning of Node.js', async (t) => {
    const { sender } = createSender(t);
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const aborting = new AbortController();
    const waits = Array.from({ length: 20 }, (_, partition) => {
      sender.open('bids', partition, `of ${partition}`);
      sender.add(`of ${partition}`, FIRST);
      return sender.whenRoom('bids', partition, aborting.signal);
    });
    aborting.abort();
    await Promise.all(waits);
    await setImmediate();
    assert.deepEqual(warnings, []);
  });
});
