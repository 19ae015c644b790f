import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import type { Bus } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { Receiver } from '../../src/bus/flow/receiver.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { logLines } from './log-lines.ts';
import { TcpProxy } from './redis/tcp-proxy.ts';

const TOPIC = 'bids';
const PAYLOAD = JSON.stringify('x'.repeat(10_000));
const NEVER = new AbortController().signal;
/** A window's worth of messages, and the first bytes that go out without an answer. */
const MANY = 60;

type MakeBus = (prefix: string, flowPatienceMs: number | undefined) => Bus;

/** A worker that publishes one message at a time on `channel`, and what it needs to be a gateway of the same prefix. */
async function createWorker(t: TestContext, makeBus: MakeBus, patienceMs: number | 'off' = 5_000) {
  const prefix = randomName();
  const bus = makeBus(prefix, patienceMs === 'off' ? undefined : patienceMs);
  t.after(() => bus.close());
  await bus.start();
  await bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
  let offset = 0;
  const publish = async (value: string, messages = 1) => {
    for (let i = 0; i < messages; i++) {
      const position = { topic: TOPIC, partition: 0, offset: ++offset };
      await bus.publish([{ channel: `${prefix}${TOPIC}{a="${value}"}`, payload: PAYLOAD, timestamp: 0, ...position }], position); // prettier-ignore
    }
  };
  /** Publishes as much as there is room for, `most` messages at most. Returns how many. */
  const fill = async (value: string, most = MANY) => {
    let messages = 0;
    for (; messages < most && bus.sender.room(TOPIC, 0).bytes > 0; messages++) await publish(value);
    return messages;
  };
  return { prefix, bus, publish, fill, room: () => bus.sender.room(TOPIC, 0) };
}

/** A gateway that has one channel and serves what the test says. */
async function createGateway(bus: Bus, prefix: string, name: string, values: readonly string[] = ['1']) {
  const receiver = new Receiver({ gateway: name, targetMs: 500, maxBytes: 8_388_608, maxExecuting: 500, sockets: () => 1, fill: () => 0 });
  const stop = bus.receive(receiver);
  const intake = receiver.intake(TOPIC, 0);
  let arrived = 0;
  for (const value of values) {
    await bus.subscribe(`${prefix}${TOPIC}{a="${value}"}`, (payload) => {
      arrived++;
      intake.arrive(payload.length);
    });
  }
  return { stop, intake, arrived: () => arrived, serve: () => intake.serve(Infinity) };
} // prettier-ignore

function flowContract(name: string, makeBus: MakeBus): void {
  describe(`${name}: flow control`, () => {
    it('stops a worker that is ahead of its gateway, and resumes it when the gateway has served', async (t) => {
      const { bus, prefix, fill } = await createWorker(t, makeBus);
      const { arrived, serve } = await createGateway(bus, prefix, 'pod');
      const first = await fill('1');
      assert.ok(first < MANY, `${first} of ${MANY}`);
      await waitFor('the credit', () => bus.sender.room(TOPIC, 0).gateway === 'pod');
      assert.equal(bus.sender.room(TOPIC, 0).bytes, 0);
      await waitFor('the messages', () => arrived() === first);
      assert.equal(bus.sender.lags().get('pod'), first * PAYLOAD.length);
      serve();
      await bus.sender.whenRoom(TOPIC, 0, NEVER);
      assert.ok((await fill('1')) > 0);
    });

    it('never stops a worker while it is off', async (t) => {
      const { bus, prefix, fill, room } = await createWorker(t, makeBus, 'off');
      await createGateway(bus, prefix, 'pod');
      assert.equal(await fill('1'), MANY);
      assert.deepEqual(room(), { bytes: Infinity, gateway: undefined });
      await bus.sender.whenRoom(TOPIC, 0, NEVER);
    });

    it('never stops a worker without gateways', async (t) => {
      const { bus, prefix, fill } = await createWorker(t, makeBus);
      await createGateway(bus, prefix, 'pod', ['other']);
      assert.equal(await fill('1'), MANY);
    });

    it('stops waiting for a gateway that serves nothing', async (t) => {
      const { bus, prefix, fill, room } = await createWorker(t, makeBus, 300);
      await createGateway(bus, prefix, 'pod');
      await fill('1');
      await waitFor('the credit', () => room().gateway === 'pod');
      await bus.sender.whenRoom(TOPIC, 0, NEVER);
      assert.equal(await fill('1'), MANY);
    });

    it('does not wait for a gateway that drains', async (t) => {
      const { bus, prefix, fill, room } = await createWorker(t, makeBus);
      const { stop } = await createGateway(bus, prefix, 'pod');
      await fill('1');
      await waitFor('the credit', () => room().gateway === 'pod');
      stop();
      stop();
      await waitFor('the final credit', () => room().bytes === Infinity);
    });

    it('ends a wait when its signal is aborted, and at close', async (t) => {
      const { bus, prefix, fill, room } = await createWorker(t, makeBus);
      await createGateway(bus, prefix, 'pod');
      await fill('1');
      await waitFor('the credit', () => room().gateway === 'pod');
      const aborting = new AbortController();
      const waits = [bus.sender.whenRoom(TOPIC, 0, aborting.signal), bus.sender.whenRoom(TOPIC, 0, NEVER)];
      aborting.abort();
      await waits[0];
      await bus.close();
      await waits[1];
    });
  });
}

flowContract('memory bus', (prefix, flowPatienceMs) => new MemoryBus({ prefix, flowPatienceMs, log: logLines().log }));

describe('over a real Redis', () => {
  let server: RedisServer;

  before(async () => {
    server = await startRedisServer();
  });
  after(() => server.stop());

  const redisBus: MakeBus = (prefix, flowPatienceMs) =>
    new RedisBus({ url: server.url, prefix, flowPatienceMs, log: logLines().log });
  flowContract('one Redis', redisBus);

  async function gatewayBus(t: TestContext, prefix: string, url = server.url) {
    const bus = new RedisBus({ url, prefix, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    return bus;
  }

  it('follows the slower of two gateways', async (t) => {
    const { bus, prefix, fill, room } = await createWorker(t, redisBus);
    const [slow, fast] = [
      await createGateway(await gatewayBus(t, prefix), prefix, 'slow'),
      await createGateway(await gatewayBus(t, prefix), prefix, 'fast'),
    ];
    const first = await fill('1');
    await waitFor('the messages', () => slow.arrived() === first && fast.arrived() === first);
    fast.serve();
    const aborting = new AbortController();
    const asking = bus.sender.whenRoom(TOPIC, 0, aborting.signal);
    await waitFor('the credit', () => room().gateway === 'slow');
    assert.equal(room().bytes, 0);
    aborting.abort();
    await asking;
  });

  it('resumes a worker when a gateway that held it up is killed', async (t) => {
    const { bus, prefix, fill, room } = await createWorker(t, redisBus, 60_000);
    const [doomed, podBus] = [await gatewayBus(t, prefix), await gatewayBus(t, prefix)];
    await createGateway(doomed, prefix, 'doomed');
    const pod = await createGateway(podBus, prefix, 'pod');
    const first = await fill('1');
    await waitFor('the messages', () => pod.arrived() === first);
    pod.serve();
    void bus.sender.whenRoom(TOPIC, 0, NEVER);
    await waitFor('the credit', () => room().gateway === 'doomed');
    await doomed.close();
    await waitFor('room for the other', () => room().gateway === 'pod');
  });

  it('waits once, and briefly, for a subscriber that is not a gateway', async (t) => {
    const { bus, prefix, fill } = await createWorker(t, redisBus);
    const stranger = new Redis(server.url);
    t.after(() => stranger.disconnect());
    await stranger.subscribe(`${prefix}${TOPIC}{a="1"}`);
    assert.ok((await fill('1')) < MANY);
    await bus.sender.whenRoom(TOPIC, 0, NEVER);
    assert.equal(await fill('1'), MANY);
  });

  it('resumes after a link is lost with marks and credits in flight', async (t) => {
    const proxy = await TcpProxy.start(t, Number(new URL(server.url).port));
    const { bus, prefix, fill, room } = await createWorker(t, redisBus, 60_000);
    const pod = await createGateway(await gatewayBus(t, prefix, proxy.url), prefix, 'pod');
    await fill('1');
    await waitFor('the credit', () => room().gateway === 'pod');
    proxy.cut();
    pod.serve();
    await bus.sender.whenRoom(TOPIC, 0, NEVER);
    assert.ok((await fill('1')) > 0);
  });

  /** A worker and two gateways whose links are cut. The gateways find no server until `restore`. */
  async function cutAll(t: TestContext, patienceMs: number) {
    const port = Number(new URL(server.url).port);
    const [link, gatewayLink] = [await TcpProxy.start(t, port), await TcpProxy.start(t, port)];
    const worker = await createWorker(t, (prefix, flowPatienceMs) => new RedisBus({ url: link.url, prefix, flowPatienceMs, log: logLines().log }), patienceMs); // prettier-ignore
    const { bus, prefix, room, publish } = worker;
    const gateways = await Promise.all(
      ['a', 'b'].map(async (name) => createGateway(await gatewayBus(t, prefix, gatewayLink.url), prefix, name)),
    );
    assert.ok(room().bytes > 0);
    await publish('1');
    await waitFor('the message', () => gateways.every(({ arrived }) => arrived() === 1));
    gatewayLink.retarget(1);
    for (const each of [gatewayLink, link]) each.cut();
    await waitFor('the loss', () => !bus.isAvailable);
    await waitFor('the link of the worker', () => bus.isAvailable);
    return { ...worker, gateways, restore: () => gatewayLink.retarget(port) };
  }

  it('stops a worker after an outage until the gateways are subscribed again', async (t) => {
    const { bus, gateways, publish, room, restore } = await cutAll(t, 60_000);
    assert.deepEqual(room(), { bytes: 0, gateway: undefined, areGatewaysMissing: true });
    await assert.rejects(publish('1'), /gateways have not subscribed again/, 'with room that was given before');
    restore();
    await bus.sender.whenRoom(TOPIC, 0, NEVER);
    await publish('1');
    await waitFor('the next message', () => gateways.every(({ arrived }) => arrived() === 2));
  });

  it('stops a worker after an outage for its patience at most', async (t) => {
    const { bus, room } = await cutAll(t, 1_000);
    assert.equal(room().bytes, 0);
    await bus.sender.whenRoom(TOPIC, 0, NEVER);
    assert.ok(room().bytes > 0);
  });

  it('publishes marks, and adds no key to Redis', async (t) => {
    const { prefix, publish } = await createWorker(t, redisBus);
    const client = new Redis(server.url);
    t.after(() => client.disconnect());
    const marks: string[] = [];
    await client.subscribe(`${prefix}flow`, `${prefix}${TOPIC}{a="1"}`);
    client.on('message', (channel, text) => channel.endsWith('flow') && marks.push(text));
    await publish('2', 3);
    await publish('1', 3);
    await waitFor('a mark', () => marks.length > 0);
    assert.match(marks[0]!, /^bids 0 [\w-]+\.1 \d+\??$/);
    const keys = new Redis(server.url);
    t.after(() => keys.disconnect());
    assert.deepEqual(await keys.keys(`${prefix}*`), [`${prefix}owners`]);
  });
});
