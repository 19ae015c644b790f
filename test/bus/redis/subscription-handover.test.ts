import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { handOver } from '../../../src/bus/redis/subscription-handover.ts';
import type { Divider } from '../../../src/bus/redis/subscription-handover.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

const CHANNELS = Array.from({ length: 600 }, (_, i) => `channel ${i}`);

const KINDS = [
  { kind: 'subscribe', publish: 'publish', event: 'messageBuffer' },
  { kind: 'ssubscribe', publish: 'spublish', event: 'smessageBuffer' },
] as const;

async function connect(t: TestContext, url: string, user = ''): Promise<Redis> {
  const client = new Redis(url.replace('//', `//${user}`), { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  t.after(() => client.disconnect());
  await client.connect();
  return client;
}

/** A server with a publisher, and a connection that is subscribed to every channel. */
async function start(t: TestContext, { kind, publish, event }: (typeof KINDS)[number]) {
  const { url } = await redisServer(t);
  const publisher = await connect(t, url);
  const from = await connect(t, url);
  for (let i = 0; i < CHANNELS.length; i += 100) await from[kind](...CHANNELS.slice(i, i + 100));
  const heard: string[] = [];
  const receiver = (_name: Buffer, message: Buffer) => message.length > 0 && heard.push(String(message));
  from.on(event, receiver);
  const markOf = (): Divider => {
    const channel = randomUUID();
    return { channel, kind, publish: () => publisher[publish](channel, '') };
  };
  return { url, publisher, from, heard, markOf };
}

describe('handOver', { timeout: 60_000 }, () => {
  for (const each of KINDS) {
    it(`moves channels of ${each.kind} under a flow of messages: none is lost, doubled or reordered`, async (t) => {
      const { url, publisher, from, heard, markOf } = await start(t, each);
      let count = 0;
      let isFlowing = true;
      const flow = (async () => {
        while (isFlowing) {
          for (let i = 0; i < 20; i++) void publisher[each.publish](CHANNELS[count % CHANNELS.length]!, `${count++}`);
          await nextTurn();
        }
      })();
      let current = from;
      for (let round = 0; round < 10; round++) {
        const next = await connect(t, url);
        const before = heard.length;
        await handOver(current, next, markOf());
        current.disconnect();
        current = next;
        await waitFor('messages of the new connection', () => heard.length > before);
      }
      isFlowing = false;
      await flow;
      await waitFor('the last message', () => heard.at(-1) === `${count - 1}`);
      assert.deepEqual(
        heard.map(Number),
        Array.from({ length: count }, (_, i) => i),
      );
    });
  }

  it('leaves the old connection as it is when Redis refuses a channel to the new one', async (t) => {
    const { url, publisher, from, heard, markOf } = await start(t, KINDS[0]);
    await publisher.call('ACL', 'SETUSER', 'poor', 'on', '>pw', '~*', '&other', '+@all');
    const to = await connect(t, url, 'poor:pw@');
    await assert.rejects(handOver(from, to, markOf()), /NOPERM/);
    await publisher.publish(CHANNELS[0]!, 'still');
    await waitFor('a message of the old connection', () => heard.length > 0);
    assert.deepEqual([heard, from.status], [['still'], 'ready']);
  });

  it('leaves the old connection as it is when the mark is not published', async (t) => {
    const { url, publisher, from, heard, markOf } = await start(t, KINDS[0]);
    const to = await connect(t, url);
    const publish = () => Promise.reject(new Error('away'));
    await assert.rejects(handOver(from, to, { ...markOf(), publish }), /away/);
    await publisher.publish(CHANNELS[0]!, 'still');
    await waitFor('a message of the old connection', () => heard.length > 0);
    assert.deepEqual([heard, from.status], [['still'], 'ready']);
  });

  it('closes the old connection when the new one is lost after the mark, so that the loss is noticed', async (t) => {
    const { url, publisher, from, markOf } = await start(t, KINDS[0]);
    const to = await connect(t, url);
    const mark = markOf();
    const passed = new Promise<void>((resolve) => {
      from.on('messageBuffer', (name: Buffer) => String(name) === mark.channel && resolve());
    });
    const publish = async () => {
      to.stream.pause();
      await mark.publish();
      await passed;
      await publisher.publish(CHANNELS[0]!, 'missed by both');
      to.stream.destroy();
    };
    await assert.rejects(handOver(from, to, { ...mark, publish }), /a connection was closed/);
    await waitFor('the end of the old connection', () => from.status === 'end');
  });
});
