import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import type { Coordinates } from '../../src/bus/coordinates.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import type { Logger } from '../../src/base/log.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { logLines } from './log-lines.ts';

/** Creates a bus with this prefix that is not started. All buses of one test reach each other. */
export type MakePrefixedBus = (options: { readonly log: Logger; readonly prefix: string }) => Bus;

/** What every bus promises of plain channels (src/bus/bus.ts). */
export function plainContract(name: string, makeBus: MakePrefixedBus): void {
  async function started(t: TestContext) {
    const bus = makeBus({ log: logLines().log, prefix: `${randomName()}:` });
    t.after(() => bus.close());
    await bus.start();
    return bus;
  }

  describe(`${name}: plain channels`, () => {
    it('deliver each message to every listener in order, without coordinates', async (t) => {
      const bus = await started(t);
      const channel = randomName();
      const seen: [string, Coordinates | undefined][][] = [[], []];
      for (const mine of seen) {
        await bus.subscribe(channel, (payload, coordinates) => mine.push([payload.toString(), coordinates]));
      }
      for (const text of ['1', '2', '3']) await bus.send(channel, text);
      await waitFor('the messages', () => seen.every((mine) => mine.length === 3));
      const expected = ['1', '2', '3'].map((text) => [text, undefined]);
      assert.deepEqual(seen, [expected, expected]);
    });

    it('deliver a header that another program has forged as a part of the payload', async (t) => {
      const bus = await started(t);
      const channel = randomName();
      const seen: [string, Coordinates | undefined][] = [];
      await bus.subscribe(channel, (payload, coordinates) => seen.push([payload.toString(), coordinates]));
      const forged = '@0 17 1763730000000 1763720000000 1763730000001-0 -\n{}';
      await bus.send(channel, forged);
      await waitFor('the message', () => seen.length > 0);
      assert.deepEqual(seen, [[forged, undefined]]);
    });

    it('deliver nothing after the listener has left', async (t) => {
      const bus = await started(t);
      const channel = randomName();
      const seen: string[] = [];
      const leave = await bus.subscribe(channel, () => seen.push('left'));
      await bus.subscribe(channel, () => seen.push('there'));
      leave();
      await bus.send(channel, '1');
      await waitFor('the message', () => seen.length > 0);
      assert.deepEqual(seen, ['there']);
    });

    it('refuse a message once the bus is closed', async (t) => {
      const bus = await started(t);
      await bus.close();
      await assert.rejects(bus.send('a', '1'), BusUnavailableError);
    });
  });
}
