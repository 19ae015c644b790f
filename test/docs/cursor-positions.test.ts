import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createServer } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { metricOf } from '../support/metric.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { importFromPage } from './page-modules.ts';

interface Seen {
  readonly cursor: string;
  readonly initial?: true;
}

/** A field with these arguments of `@kafka`. */
async function stage(t: TestContext, parameters: string) {
  const schema = `type Event { n: Int } type Subscription { event: Event @kafka(topic: "events"${parameters}) }`;
  const graph = defineGraph({ schema });
  const server = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'fatal', graph });
  t.after(() => server.close());
  let count = 0;
  const channels = () => metricOf(server.adminUrl, 'crier_channels');
  return {
    subscribe: async () => {
      const socket = await openSocket(t, server.webSocketUrl!);
      await socket.init();
      socket.subscribe('1', 'subscription { event { n } }');
      await waitFor('the subscription', async () => (await channels()) === 1);
      return socket;
    },
    leave: async (socket: Socket) => {
      socket.close();
      await waitFor('its end', async () => (await channels()) === 0);
    },
    publish: () => server.publish('events', { key: 'a', value: { n: ++count } }),
    next: async (socket: Socket) => ((await socket.next()).payload as { extensions: Seen }).extensions,
  };
}

describe('the position in a cursor', () => {
  for (const parameters of [', history: {}', ', state: {}', ', history: {}, state: {}'])
    it(`is later for each event, and equal for a repeat, with${parameters}`, async (t) => {
      type Module = { isLater: (cursor: string, last: string) => boolean };
      const { isLater } = await importFromPage<Module>('docs/reference/resume.md', 'is-later.js');
      const { subscribe, leave, publish, next } = await stage(t, parameters);
      const socket = await subscribe();
      let last: string | undefined;
      // Past an offset of two digits in base 36.
      for (let n = 0; n < 40; n++) {
        await publish();
        const { cursor } = await next(socket);
        if (last !== undefined) assert.ok(isLater(cursor, last) && !isLater(last, cursor), `${last}, ${cursor}`);
        last = cursor;
      }
      await leave(socket);
      const again = await subscribe();
      if (parameters.includes('state')) {
        const { cursor, initial } = await next(again);
        assert.deepEqual([initial, isLater(cursor, last!), isLater(last!, cursor)], [true, false, false]);
      }
      await publish();
      assert.ok(isLater((await next(again)).cursor, last!));
    });

  it('is equal for all events of a field that has neither', async (t) => {
    const { subscribe, publish, next } = await stage(t, '');
    const socket = await subscribe();
    const cursors = new Set<string>();
    for (let n = 0; n < 3; n++) {
      await publish();
      cursors.add((await next(socket)).cursor);
    }
    assert.equal(cursors.size, 1);
  });
});
