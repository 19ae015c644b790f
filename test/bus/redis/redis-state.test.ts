import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { fillStartId } from '../../../src/bus/state-fill.ts';
import { FencedError, StateLostError } from '../../../src/base/errors.ts';
import { StateCompleteness } from '../../../src/gateway/fanout/state-completeness.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

const STATE = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };
const SIGNATURE = 'aa';

/** A Redis, a bus whose worker keeps states, and one whose worker does not. */
async function keeping(t: TestContext) {
  const { url } = await redisServer(t);
  const prefix = `${randomName()}:`;
  const client = new Redis(url);
  t.after(() => client.disconnect());
  const started = async () => {
    const bus = new RedisBus({ url: url, prefix, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    return bus;
  };
  const [bus, other] = [await started(), await started()];
  await bus.stateFills.read('bids', 1);
  const channel = `${prefix}bids{}`;
  const fill = (id: string) => ({
    topic: 'bids',
    partition: 0,
    position: -1,
    signature: SIGNATURE,
    startId: fillStartId(SIGNATURE, 3) + id,
  });
  const publish = (of: RedisBus, offset: number, history = STATE) =>
    of.publish([{ channel, payload: `"${offset}"`, offset, timestamp: 0, history }], {
      topic: 'bids',
      partition: 0,
      offset,
    });
  const state = async () => {
    const { entries } = await bus.history(channel, { from: undefined, maxEntries: 1, maxBytes: 1000 });
    return entries.map(({ payload }) => String(payload))[0];
  };
  const hasFill = async () => (await bus.stateFills.read('bids')).fills.has(0);
  return { client, bus, other, prefix, channel, fill, publish, state, hasFill };
}

describe('states in Redis', () => {
  it('are lost for the worker where another one has published without keeping them (an earlier release)', async (t) => {
    const { bus, other, fill, publish, hasFill } = await keeping(t);
    await bus.acquire(fill('1'));
    await publish(bus, 0);
    assert.equal(await hasFill(), true);
    await other.acquire({ topic: 'bids', partition: 0, position: 0 });
    assert.equal(await hasFill(), true, 'a lease alone publishes nothing');
    await publish(other, 1);
    assert.equal(await hasFill(), false);
    const again = { topic: 'bids', partition: 0, position: 1, signature: SIGNATURE };
    await assert.rejects(bus.acquire(again), StateLostError);
    await bus.acquire(fill('2'));
    assert.equal(await hasFill(), true);
  });

  it('are filled again with the start id of their fill, if another worker has published without keeping them meanwhile', async (t) => {
    const { bus, other, fill, publish, state, hasFill } = await keeping(t);
    await bus.acquire(fill('1'));
    const { signature, ...earlier } = fill('1');
    await other.acquire(earlier);
    await publish(other, 0);
    assert.equal(await hasFill(), false);
    await bus.acquire({ ...earlier, signature });
    assert.equal(await hasFill(), true);
    assert.equal(await state(), undefined);
    await publish(bus, 0);
    assert.equal(await state(), '"0"');
  });

  it('are filled again with the start id of their fill, if Redis has lost records of it', async (t) => {
    for (const keys of [
      ['owners', 'fills', 'bids{}.state'],
      ['fills', 'bids{}.state'],
    ]) {
      const { client, bus, prefix, fill, publish, state, hasFill } = await keeping(t);
      await bus.acquire(fill('1'));
      await publish(bus, 0);
      await client.del(keys.map((key) => prefix + key));
      await bus.stateFills.read('bids', 1);
      await bus.acquire(fill('1'));
      await publish(bus, 0);
      assert.equal(await state(), '"0"');
      assert.equal(await hasFill(), true);
    }
  });

  it('are complete once the worker that leases the partition says so, and no other whose fill has the same signature', async (t) => {
    const { client, bus, other, prefix, fill } = await keeping(t);
    const end = async () => (await bus.stateFills.read('bids', 1)).fills.get(0)?.end;
    await bus.acquire(fill('1'));
    await client.del(`${prefix}owners`, `${prefix}fills`);
    await assert.rejects(bus.stateFills.end('bids', 0, SIGNATURE), FencedError);
    await other.acquire(fill('2'));
    await assert.rejects(bus.stateFills.end('bids', 0, SIGNATURE), FencedError);
    assert.equal(await end(), 3);
    await other.stateFills.end('bids', 0, SIGNATURE);
    assert.equal(await end(), undefined);
  });

  it('are lost with the data of Redis, which the next lease tells', async (t) => {
    const { client, bus, prefix, fill, publish, hasFill } = await keeping(t);
    await bus.acquire(fill('1'));
    await publish(bus, 0);
    await client.del(`${prefix}owners`, `${prefix}fills`);
    assert.equal(await hasFill(), false);
    const again = { topic: 'bids', partition: 0, position: 0, signature: SIGNATURE };
    await assert.rejects(bus.acquire(again), StateLostError);
  });

  it('are known to be incomplete by the first read after Redis has lost its data', async (t) => {
    const { client, bus, channel, fill, publish } = await keeping(t);
    await bus.acquire(fill('1'));
    await publish(bus, 0);
    await bus.stateFills.end('bids', 0, SIGNATURE);
    const signatures = new Map([['bids', SIGNATURE]]);
    const states = new StateCompleteness({ fills: bus.stateFills, signatures, topicOf: () => 'bids' });
    await states.start();
    t.after(() => states.close());
    const isComplete = async () => {
      const { epoch } = await bus.history(channel, { from: undefined, maxEntries: 1, maxBytes: 1000 });
      return states.isComplete(channel, epoch);
    };
    assert.equal(await isComplete(), true);
    await client.flushall();
    assert.equal(await isComplete(), false);
    await bus.stateFills.read('bids', 1);
    await bus.acquire(fill('2'));
    await publish(bus, 0);
    assert.equal(await isComplete(), false, 'a fill has begun');
    assert.deepEqual(states.incomplete, [], 'nobody has looked since');
  });

  it('of before the last fill of their partition are not served: the topic may have no record of their key any more', async (t) => {
    const { bus, fill, publish, state } = await keeping(t);
    await bus.acquire(fill('1'));
    await publish(bus, 0);
    assert.equal(await state(), '"0"');
    await bus.acquire(fill('2'));
    assert.equal(await state(), undefined);
    await publish(bus, 0);
    assert.equal(await state(), '"0"');
  });

  it('of before the last fill of their partition end silently when a record that moves is read again', async (t) => {
    const { bus, prefix, fill } = await keeping(t);
    const nameOf = (id: string) => `${prefix}bids{id="${id}"}`;
    const history = { ...STATE, keyIndex: `${prefix}bids[id=?]` };
    const seen: string[] = [];
    for (const id of ['a', 'b'])
      await bus.subscribe(nameOf(id), (payload) => void seen.push(`${id} ${String(payload)}`));
    const publishAll = async () => {
      for (const [offset, id] of ['a', 'b'].entries()) {
        const message = { channel: nameOf(id), payload: `"${offset}"`, offset, timestamp: 0, history, keyHash: 'K' };
        await bus.publish([message], { topic: 'bids', partition: 0, offset });
      }
    };
    for (const id of ['1', '2']) {
      await bus.acquire(fill(id));
      await publishAll();
      await waitFor('the last message', () => seen.at(-1) === 'b "1"');
      assert.deepEqual(seen.splice(0), ['a "0"', 'a null', 'b "1"']);
    }
  });

  it('take one key for each channel, and none after a tombstone and its ten seconds', async (t) => {
    const { client, bus, channel, fill, publish } = await keeping(t);
    await bus.acquire(fill('1'));
    await publish(bus, 0);
    assert.deepEqual(await client.keys(`${channel}*`), [`${channel}.state`]);
    assert.equal(await client.ttl(`${channel}.state`), -1);
    const position = { topic: 'bids', partition: 0, offset: 1 };
    await bus.publish([{ channel, payload: 'null', offset: 1, timestamp: 0, history: STATE }], position);
    const seconds = await client.ttl(`${channel}.state`);
    assert.ok(seconds > 0 && seconds <= 10, `${seconds}`);
  });
});
