import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import kafkajs from 'kafkajs';
import { stopIdleTimers } from '../../../../src/kafka/client/patches/idle-timer.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MANY = 50;

/** A broker as far as its first connection needs one: it answers ApiVersions. */
async function idleBroker(): Promise<{ address: string; close: () => void }> {
  const server = createServer((socket) => {
    socket.on('data', (request: Buffer) => {
      const body = Buffer.alloc(12);
      // No error, one API: ApiVersions, 0 to 0.
      body.writeInt32BE(1, 2);
      body.writeInt16BE(18, 6);
      const answer = Buffer.alloc(8 + body.length);
      answer.writeInt32BE(4 + body.length, 0);
      request.copy(answer, 4, 8, 12);
      body.copy(answer, 8);
      socket.write(answer);
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, close: () => server.close() };
}

/** Timers that an idle connection sets, until there are many or `patienceMs` are over. */
async function timersWhileIdle(address: string, patienceMs = 10_000): Promise<number> {
  const admin = new kafkajs.Kafka({ brokers: [address], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const original = globalThis.setTimeout;
  let timers = 0;
  globalThis.setTimeout = new Proxy(original, {
    apply(target, self, args: Parameters<typeof setTimeout>) {
      timers++;
      return Reflect.apply(target, self, args);
    },
  });
  await waitFor('many timers', () => timers > MANY, patienceMs).catch(() => undefined);
  globalThis.setTimeout = original;
  await admin.disconnect();
  return timers;
}

it('sets no timers on an idle connection (twin: kafkajs alone does)', async (t) => {
  const broker = await idleBroker();
  t.after(() => broker.close());
  const spinning = await timersWhileIdle(broker.address);
  const restore = stopIdleTimers();
  const restoreAgain = stopIdleTimers();
  const resting = await timersWhileIdle(broker.address, 500);
  restoreAgain();
  restore();
  assert.ok(spinning > MANY, `${spinning} timers without`);
  assert.ok(resting <= 2, `${resting} timers with`);
  assert.ok((await timersWhileIdle(broker.address)) > MANY, 'taken back');
});
