import assert from 'node:assert/strict';
import { assertError, complete, next } from '../../../../src/tools/conformance/answers.ts';
import type { ProtocolMessage } from '../../../support/socket.ts';
import type { ProbeRow } from './probe-stage.ts';

/** Ignores the key order of JSON: the protocol has none. */
function keysOf(message: ProtocolMessage): string[] {
  return Object.keys(message.payload as object).sort();
}

export const eventRows: readonly ProbeRow[] = [
  {
    id: 'C-43',
    level: 'P',
    title: 'delivers a resolver error as next with errors and partial data, and continues the stream',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      socket.subscribe('a', 'subscription ($t: String!) { live(token: $t) { value fragile } }', { t: probe.token });
      await socket.roundTrip();
      probe.push(1);
      probe.push(2);
      const broken = await socket.next();
      const { data, errors } = broken.payload as { data: unknown; errors: { message: string; path: unknown }[] };
      assert.equal(broken.type, 'next');
      assert.deepEqual(keysOf(broken), ['data', 'errors']);
      assert.deepEqual(data, { live: { value: 1, fragile: null } });
      assert.equal(errors.length, 1);
      assert.deepEqual(errors[0]!.path, ['live', 'fragile']);
      assert.deepEqual(await socket.next(), next('a', { live: { value: 2, fragile: 2 } }));
    },
  },
  {
    id: 'C-44',
    level: 'P',
    title: 'answers a source that throws with one error and no complete; other operations stay',
    async run(stage) {
      const socket = await stage.connect();
      const probe = await stage.live(socket, 'other');
      socket.subscribe('a', 'subscription { failing_source }');
      assert.deepEqual(await socket.next(), next('a', { failing_source: 1 }));
      assertError(await socket.next(), 'a');
      assert.deepEqual(await socket.roundTrip(), []);
      probe.push(1);
      assert.deepEqual(await socket.next(), next('other', { live: { value: 1 } }));
    },
  },
  {
    id: 'X-20',
    level: 'P',
    title: 'keeps the source order when the first event takes longer than the second',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      const query = 'subscription ($t: String!) { live(token: $t) { value slow(token: $t) } }';
      socket.subscribe('a', query, { t: probe.token });
      await socket.roundTrip();
      probe.release('2');
      probe.push(1);
      probe.push(2);
      assert.deepEqual(await socket.roundTrip(), []);
      probe.release('1');
      for (const value of [1, 2]) assert.deepEqual(await socket.next(), next('a', { live: { value, slow: value } }));
    },
  },
  {
    id: 'X-21',
    level: 'REC',
    title: 'delivers the events of a source that ended before their executions',
    async run(stage) {
      const socket = await stage.connect();
      const probe = stage.probe();
      const query = 'subscription ($t: String!) { live(token: $t) { slow(token: $t) } }';
      socket.subscribe('a', query, { t: probe.token });
      await socket.roundTrip();
      for (const value of [1, 2, 3]) probe.push(value);
      probe.end();
      assert.deepEqual(await socket.roundTrip(), []);
      for (const value of [3, 2, 1]) probe.release(String(value));
      for (const value of [1, 2, 3]) assert.deepEqual(await socket.next(), next('a', { live: { slow: value } }));
      assert.deepEqual(await socket.next(), complete('a'));
    },
  },
  {
    id: 'X-22',
    level: 'REC',
    title: 'delivers one event once to every subscribed operation of every socket',
    async run(stage) {
      const probe = stage.probe();
      const sockets = await Promise.all(Array.from({ length: 5 }, () => stage.connect()));
      for (const socket of sockets) {
        for (const id of ['a', 'b']) {
          socket.subscribe(id, 'subscription ($t: String!) { live(token: $t) { value } }', { t: probe.token });
        }
        await socket.roundTrip();
      }
      for (const value of [1, 2, 3]) probe.push(value);
      for (const socket of sockets) {
        const messages = await socket.take(6);
        for (const id of ['a', 'b']) {
          assert.deepEqual(
            messages.filter((message) => message.id === id),
            [1, 2, 3].map((value) => next(id, { live: { value } })),
          );
        }
        assert.deepEqual(await socket.roundTrip(), []);
      }
    },
  },
];
