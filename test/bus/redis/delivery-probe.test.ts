import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { targetOf } from '../../support/redis-target.ts';
import { DeliveryProbe } from '../../../src/bus/redis/delivery-probe.ts';
import type { DeliveryProbeOptions } from '../../../src/bus/redis/delivery-probe.ts';

/** Longer than the test: a new link that gets no answer waits for it to the end. */
const INTERVAL_MS = 3_600_000;

/** A server that takes links and never answers. */
async function startSilent(t: TestContext): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A probe of which no new link is ever answered. `drops` are the links that it has given up. */
async function startProbe(t: TestContext, areDelivered: boolean) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const drops: string[] = [];
  const roundTrips: number[] = [];
  let receive: (message: Buffer) => void = () => assert.fail('not subscribed');
  const publish = (_channel: string, text: string) => {
    if (areDelivered) receive(Buffer.from(text));
    return Promise.resolve(1);
  };
  const probe = new DeliveryProbe({
    target: targetOf(await startSilent(t)),
    tag: () => ({ prefix: '', publishCommand: 'publish' }),
    publisher: { isUp: true, client: { publish }, drop: () => drops.push('publisher') },
    subscriberLink: { isUp: true, drop: () => drops.push('subscriber') },
    subscriber: {
      isLive: () => true,
      subscribe: (_name: string, receiver: typeof receive) => (receive = receiver),
      unsubscribe: () => undefined,
    },
    intervalMs: INTERVAL_MS,
    onRoundTrip: (ms: number) => roundTrips.push(ms),
  } as unknown as DeliveryProbeOptions);
  t.after(() => probe.close());
  probe.start();
  const turn = async () => {
    t.mock.timers.tick(INTERVAL_MS);
    await nextTurn();
  };
  return { drops, roundTrips, turn };
}

describe('DeliveryProbe', () => {
  it('drops the publishing link two rounds after a probe that was accepted and did not arrive', async (t) => {
    const { drops, turn } = await startProbe(t, false);
    for (let round = 1; round <= 2; round++) await turn();
    assert.deepEqual(drops, []);
    await turn();
    assert.deepEqual(drops, ['publisher']);
  });

  it('keeps a link whose probe arrived before the reply of Redis, even while no further probe can be sent', async (t) => {
    const { drops, roundTrips, turn } = await startProbe(t, true);
    for (let round = 1; round <= 5; round++) await turn();
    assert.deepEqual(drops, []);
    assert.equal(roundTrips.length, 1);
  });
});
