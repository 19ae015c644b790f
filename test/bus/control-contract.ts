import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/bus/bus.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import type { MakeBus } from './contract.ts';
import { logLines } from './log-lines.ts';

const LATER_MS = 3_600_000;

/** What every bus promises of its control messages (src/bus/control.ts). */
export function controlContract(name: string, makeBus: MakeBus): void {
  async function started(t: TestContext): Promise<Bus> {
    const bus = await makeBus(t, { log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    return bus;
  }

  /** A started bus, and the texts that it receives under a name. */
  async function listening(t: TestContext) {
    const { control } = await started(t);
    const topic = randomName('control');
    const heard: string[] = [];
    const stop = await control.listen(
      topic,
      (text) => heard.push(text),
      () => assert.fail('a gap'),
    );
    /** Resolves when everything that was sent before has arrived. */
    const settled = async () => {
      const end = randomName('end');
      await control.send(topic, end);
      await waitFor('the last text', () => heard.includes(end));
      return heard.filter((text) => !text.startsWith('end'));
    };
    return { control, topic, heard, stop, settled };
  }

  describe(`${name}: control messages`, () => {
    it('reach the listener of their name in order, unchanged', async (t) => {
      const { control, topic, settled } = await listening(t);
      await control.send(`${topic}2`, 'of another name');
      const texts = ['1', 'é🎺\u0000\r\n$5\r\n', '@1 2 3 4\n5', '', 'x'.repeat(100_000)];
      await Promise.all(texts.map((text) => control.send(topic, text)));
      assert.deepEqual(await settled(), texts);
    });

    it('reach no listener that has stopped, however often it stops', async (t) => {
      const { control, topic, heard, stop, settled } = await listening(t);
      await settled();
      const before = heard.length;
      stop();
      const again: string[] = [];
      await control.listen(
        topic,
        (text) => again.push(text),
        () => undefined,
      );
      stop();
      await control.send(topic, 'x');
      await waitFor('the new listener', () => again.length > 0);
      assert.equal(heard.length, before);
    });

    it('are refused before the start and after the end', async (t) => {
      const bus = await makeBus(t, { log: logLines().log });
      const refused = async () => {
        const { control } = bus;
        await assert.rejects(control.send('a', 'x'), BusUnavailableError);
        await assert.rejects(
          control.listen(
            'a',
            () => undefined,
            () => undefined,
          ),
          BusUnavailableError,
        );
        await assert.rejects(
          control.keep('a', [{ text: 'x', untilMs: Date.now() + LATER_MS }], 1),
          BusUnavailableError,
        );
        await assert.rejects(control.kept('a'), BusUnavailableError);
      };
      await refused();
      await bus.start();
      await bus.close();
      await refused();
    });
  });

  describe(`${name}: kept texts`, () => {
    const later = (text: string) => ({ text, untilMs: Date.now() + LATER_MS });

    it('are returned until their end, which a repetition moves', async (t) => {
      const { control } = await started(t);
      const topic = randomName('control');
      assert.deepEqual(await control.kept(topic), []);
      const soon = (text: string) => ({ text, untilMs: Date.now() + 150 });
      await control.keep(topic, [later('a'), soon('b'), soon('c'), later('d')], 10);
      await control.keep(topic, [later('c'), { text: 'd', untilMs: 0 }], 10);
      await waitFor('the end of b', async () => !(await control.kept(topic)).includes('b'));
      assert.deepEqual((await control.kept(topic)).sort(), ['a', 'c']);
    });

    it('reach the listener of their name if they were not kept before', async (t) => {
      const { control, topic, settled } = await listening(t);
      await control.keep(topic, [later('a'), later('b')], 10);
      await control.keep(topic, [later('b'), later('c')], 10);
      assert.deepEqual(await settled(), ['a', 'b', 'c']);
    });

    it('are refused beyond the bound and not sent; those that are kept already are not, and others find room later', async (t) => {
      const { control, topic, settled } = await listening(t);
      assert.equal(await control.keep(topic, [later('a'), later('b'), later('c')], 2), 1);
      assert.equal(await control.keep(topic, [later('b'), later('d')], 2), 1);
      assert.deepEqual(await settled(), ['a', 'b']);
      await control.keep(topic, [{ text: 'a', untilMs: 0 }], 2);
      assert.equal(await control.keep(topic, [later('d')], 2), 0);
      assert.deepEqual((await control.kept(topic)).sort(), ['b', 'd']);
    });

    it('may be thousands in one call', async (t) => {
      const { control } = await started(t);
      const topic = randomName('control');
      const texts = Array.from({ length: 2_345 }, (_, i) => later(`${i}`));
      assert.equal(await control.keep(topic, texts, 2_300), 45);
      assert.equal((await control.kept(topic)).length, 2_300);
    });
  });
}
