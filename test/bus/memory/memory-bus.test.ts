import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MemoryBus } from '../../../src/bus/memory/memory-bus.ts';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { busContract } from '../contract.ts';
import { controlContract } from '../control-contract.ts';
import { plainContract } from '../plain-contract.ts';
import { stateKeyContract } from '../state-key-contract.ts';
import { logLines } from '../log-lines.ts';
import { publisherOf } from '../../support/partition-publisher.ts';

controlContract('memory bus', (_t, options) => Promise.resolve(new MemoryBus(options)));
plainContract('memory bus', (options) => new MemoryBus(options));
stateKeyContract('memory bus', (_t, options) => Promise.resolve(new MemoryBus(options)));
busContract('memory bus', (_t, options) => Promise.resolve(new MemoryBus(options)));

it('refuses a publish past 100,000 pending messages, and accepts it after earlier messages are delivered', async (t) => {
  const bus = new MemoryBus({ log: logLines().log });
  t.after(() => bus.close());
  await bus.start();
  let seen = 0;
  await bus.subscribe('a', () => seen++);
  const message = { channel: 'a', payload: '1' };
  const messages = Array.from({ length: 100_000 }, () => message);
  await assert.rejects(publisherOf(bus).publish([...messages, message]), BusUnavailableError);
  const accepted = publisherOf(bus).publish(messages);
  await assert.rejects(publisherOf(bus).publish([message]), BusUnavailableError);
  await accepted;
  assert.equal(seen, 100_000);
  await publisherOf(bus).publish([message]);
  assert.equal(seen, 100_001);
});

it('rejects a publish that is not delivered yet when it is closed', async () => {
  const bus = new MemoryBus({ log: logLines().log });
  await bus.start();
  await bus.subscribe('a', () => assert.fail('delivered'));
  await publisherOf(bus).lease();
  const published = publisherOf(bus).publish([{ channel: 'a', payload: '1' }]);
  await bus.close();
  await assert.rejects(published, BusUnavailableError);
});

it('delivers in a new turn of the event loop each time when a listener publishes without end', async (t) => {
  const bus = new MemoryBus({ log: logLines().log });
  t.after(() => bus.close());
  await bus.start();
  let calls = 0;
  await bus.subscribe('a', () => {
    calls++;
    publisherOf(bus)
      .publish([{ channel: 'a', payload: 'again' }])
      .catch(() => undefined);
  });
  await publisherOf(bus).publish([{ channel: 'a', payload: 'first' }]);
  assert.equal(calls, 1);
});

it('returns the epoch of a topic whatever the prefix', async (t) => {
  const bus = new MemoryBus({ prefix: '{crier}:', log: logLines().log });
  t.after(() => bus.close());
  await bus.start();
  await bus.acquire({ topic: 'bids', partition: 0, position: -1 });
  const { epoch } = await bus.history('{crier}:bids{}', { from: undefined, maxEntries: 1, maxBytes: 1 });
  assert.ok(epoch > 0);
});
