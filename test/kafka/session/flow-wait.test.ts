import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GATEWAYS_MISSING } from '../../../src/bus/flow/room.ts';
import { FlowWait } from '../../../src/kafka/session/flow-wait.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';
import { FakeGateways } from '../fake-gateways.ts';

function createStage(t: { after(fn: () => Promise<void>): void }) {
  const gateways = new FakeGateways();
  const { log, lines } = readableLog();
  const flow = new FlowWait(gateways, log);
  t.after(() => flow.close());
  /** One wait of a partition. */
  const wait = async (topic: string, partition = 0) => {
    const room = flow.whenRoom(topic, partition);
    gateways.grant(topic, partition, 100);
    assert.equal(await room, 100);
    gateways.grant(topic, partition, -100);
  };
  const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { gateways, flow, wait, logged };
}

describe('FlowWait', () => {
  it('resolves at once if there is room', async (t) => {
    const { gateways, flow, logged } = createStage(t);
    gateways.grant('bids', 0, 100);
    assert.equal(flow.room('bids', 0), 100);
    assert.equal(await flow.whenRoom('bids', 0), 100);
    assert.equal(gateways.waits, 0);
    assert.deepEqual(flow.partitions, []);
    assert.deepEqual(logged(), []);
  });

  it('logs that gateways are missing since Redis was away', async (t) => {
    const { gateways, flow, logged } = createStage(t);
    gateways.room = () => GATEWAYS_MISSING;
    const end = new AbortController();
    const room = flow.whenRoom('bids', 0, end.signal);
    end.abort();
    assert.equal(await room, 0);
    const [line] = logged();
    assert.equal(line?.['msg'], 'records wait in Kafka: gateways have not subscribed again since Redis was away');
  });

  it('asks again after a wait that brought no room', async (t) => {
    const { gateways, flow } = createStage(t);
    let calls = 0;
    gateways.whenRoom = () => {
      if (++calls === 3) gateways.grant('bids', 0, 5);
      return Promise.resolve();
    };
    assert.equal(await flow.whenRoom('bids', 0), 5);
    assert.equal(calls, 3);
  });

  it('resolves with 0 when the signal is aborted, and does not wait for room that is asked for at once', async (t) => {
    const { gateways, flow } = createStage(t);
    const end = new AbortController();
    const room = flow.whenRoom('bids', 0, end.signal);
    end.abort();
    assert.equal(await room, 0);
    assert.equal(await flow.whenRoom('bids', 0, end.signal), 0);
    assert.equal(flow.room('bids', 0), 0);
    assert.equal(gateways.waits, 1);
  });

  it('names waiting partitions and their gateway, until one second after the wait', async (t) => {
    const { gateways, flow, wait } = createStage(t);
    const room = flow.whenRoom('bids', 3);
    assert.deepEqual(flow.partitions, [{ topic: 'bids', partition: 3, gateway: 'slow' }]);
    assert.ok(flow.has('bids', 3));
    assert.equal(flow.has('bids', 2), false);
    gateways.grant('bids', 3, 1);
    await room;
    await wait('lots');
    assert.equal(flow.partitions.length, 2);
    await waitFor('the end of the wait', () => flow.partitions.length === 0);
    assert.equal(flow.has('bids', 3), false);
  });

  it('counts the seconds by topic, and by gateway for the last 20 gateways', async (t) => {
    const { gateways, flow, wait } = createStage(t);
    for (let pod = 0; pod < 25; pod++) {
      gateways.gateway = `pod-${pod}`;
      await wait('bids');
      gateways.gateway = 'pod-0';
      await wait('lots');
    }
    gateways.gateway = undefined;
    await wait('bids');
    assert.deepEqual([...flow.secondsByTopic().keys()], ['bids', 'lots']);
    assert.ok([...flow.secondsByTopic().values(), ...flow.secondsByGateway().values()].every((seconds) => seconds > 0));
    const pods = Array.from({ length: 18 }, (_, index) => `pod-${index + 7}`);
    assert.deepEqual([...flow.secondsByGateway().keys()], [...pods, 'pod-0', '']);
    const total = (seconds: ReadonlyMap<string, number>) => [...seconds.values()].reduce((sum, one) => sum + one, 0);
    assert.ok(total(flow.secondsByGateway()) <= total(flow.secondsByTopic()));
  });

  it('counts each second of a wait once, and while the wait lasts', async (t) => {
    const { gateways, flow } = createStage(t);
    const from = performance.now();
    const room = flow.whenRoom('bids', 0);
    await waitFor('a part of the wait', () => (flow.secondsByTopic().get('bids') ?? 0) > 0.01);
    assert.ok(flow.secondsByGateway().get('slow')! > 0.01);
    gateways.grant('bids', 0, 1);
    await room;
    const seconds = flow.secondsByTopic().get('bids')!;
    assert.ok(seconds <= (performance.now() - from) / 1000, `${seconds} s`);
    assert.equal(flow.secondsByTopic().get('bids'), seconds, 'it has ended');
  });

  it('logs one line when limiting begins, and one when nothing has waited for 5 s', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { gateways, flow, wait, logged } = createStage(t);
    await wait('bids');
    await wait('bids');
    await wait('lots');
    t.mock.timers.tick(4999);
    await wait('bids');
    t.mock.timers.tick(4999);
    const room = flow.whenRoom('lots', 0);
    t.mock.timers.tick(60_000);
    gateways.grant('lots', 0, 1);
    await room;
    assert.equal(logged().length, 1);
    t.mock.timers.tick(5000);
    const [begin, end, ...others] = logged();
    assert.deepEqual(others, []);
    assert.deepEqual([begin?.['topic'], begin?.['partition'], begin?.['gateway']], ['bids', 0, 'slow']);
    assert.deepEqual([end?.['topic'], end?.['partition'], end?.['gateway']], ['lots', 0, 'slow']);
    gateways.grant('lots', 0, -1);
    await wait('bids');
    assert.equal(logged().length, 3);
  });
});
