import assert from 'node:assert/strict';
import { parse } from 'graphql';
import { assertError, complete, expectClose, next } from '../../../../src/tools/conformance/answers.ts';
import { subscribeMessage } from '../../../support/socket.ts';
import { LIVE, LIVE_LATER, SLOW, waitForStart } from './probe-stage.ts';
import type { ProbeRow } from './probe-stage.ts';

const HELLO = '{ hello }';
const TICKS = 'subscription ($count: Int!) { ticks(count: $count) }';

function ticks(id: string, count: number) {
  return [...Array.from({ length: count }, (_, i) => next(id, { ticks: i + 1 })), complete(id)];
}

/** `subscribe` messages with this in place of the payload's own part. */
function withPayload(...parts: readonly object[]) {
  return parts.map((part) => ({ id: 'a', type: 'subscribe', payload: { query: HELLO, ...part } }));
}

export const subscribeRows: readonly ProbeRow[] = [
  {
    id: 'X-17',
    level: 'P',
    title: 'runs the subscription that operationName names, with its variables, beside another document',
    async run(stage) {
      const socket = await stage.connect();
      const query = 'query A { hello } subscription B($token: String!) { live(token: $token) { value } }';
      const probe = stage.probe();
      const variables = { token: probe.token };
      socket.send({ id: 'b', type: 'subscribe', payload: { query, operationName: 'B', variables } });
      await waitForStart(socket, probe, 1);
      socket.subscribe('c', LIVE.replace('value', 'v: value'), variables);
      await waitForStart(socket, probe, 2);
      probe.push(5);
      const texts = (await socket.take(2)).map((message) => JSON.stringify(message));
      const expected = [next('b', { live: { value: 5 } }), next('c', { live: { v: 5 } })];
      assert.deepEqual(new Set(texts), new Set(expected.map((message) => JSON.stringify(message))));
    },
  },
  {
    id: 'C-25',
    level: 'P',
    title: 'closes with 4401 at a subscribe before the ack',
    async run(stage) {
      const probe = stage.probe();
      const socket = await stage.open();
      socket.sendTogether(
        { type: 'connection_init', payload: { auth: 'slow', token: probe.token } },
        subscribeMessage('a', HELLO),
      );
      await expectClose(socket, 4401);
    },
  },
  {
    id: 'C-27',
    level: 'P',
    title: 'closes with 4409 at the id of an operation that is executing or being prepared',
    async run(stage) {
      for (const query of [SLOW, LIVE_LATER]) {
        const probe = stage.probe();
        const socket = await stage.connect();
        socket.subscribe('a', query, { token: probe.token });
        assert.deepEqual(await socket.roundTrip(), []);
        socket.subscribe('a', HELLO);
        await expectClose(socket, 4409, query);
      }
    },
  },
  {
    id: 'C-30',
    level: 'P',
    title: 'keeps two operations of one socket apart',
    async run(stage) {
      const socket = await stage.connect();
      const a = await stage.live(socket, 'a');
      const b = await stage.live(socket, 'b');
      for (let value = 1; value <= 3; value++) {
        a.push(value);
        assert.deepEqual(await socket.next(), next('a', { live: { value } }));
        b.push(-value);
        assert.deepEqual(await socket.next(), next('b', { live: { value: -value } }));
      }
      a.end();
      assert.deepEqual(await socket.next(), complete('a'));
      b.push(9);
      assert.deepEqual(await socket.next(), next('b', { live: { value: 9 } }));
    },
  },
  {
    id: 'C-35',
    level: 'REC',
    title: 'runs a mutation and answers with next and complete (S-52)',
    async run(stage) {
      const socket = await stage.connect();
      socket.subscribe('a', 'mutation { shout(text: "hey") }');
      assert.deepEqual(await socket.take(2), [next('a', { shout: 'HEY' }), complete('a')]);
      assert.deepEqual(await socket.roundTrip(), []);
    },
  },
  {
    id: 'C-36',
    level: 'P',
    title: 'delivers a subscription in source order, then complete when the source ends',
    async run(stage) {
      const socket = await stage.connect();
      socket.subscribe('a', TICKS, { count: 50 });
      assert.deepEqual(await socket.take(51), ticks('a', 50));
      socket.subscribe('b', TICKS, { count: 0 });
      assert.deepEqual(await socket.take(1), ticks('b', 0));
    },
  },
  {
    id: 'X-26',
    level: 'P',
    title: 'accepts an id again after a subscription that its source ended',
    async run(stage) {
      const socket = await stage.connect();
      for (let i = 0; i < 3; i++) {
        socket.subscribe('a', TICKS, { count: 2 });
        assert.deepEqual(await socket.take(3), ticks('a', 2));
      }
    },
  },
  {
    id: 'X-11',
    level: 'REC',
    title: 'closes with 4400 when the query is an AST (S-56)',
    run: (stage) => stage.refuses(4400, withPayload({ query: parse(HELLO, { noLocation: true }) })),
  },
  {
    id: 'X-12',
    level: 'REC',
    title: 'answers a variable that cannot be coerced with error or a failed next, never with a close (S-37)',
    async run(stage) {
      const socket = await stage.connect();
      for (const count of ['"x"', '1e999', '9'.repeat(400), 'null', '{}']) {
        socket.send(
          `{"id":"a","type":"subscribe","payload":{"query":${JSON.stringify(TICKS)},"variables":{"count":${count}}}}`,
        );
        const answer = await socket.next();
        if (answer.type === 'error') assertError(answer, 'a');
        else {
          assert.ok((answer.payload as { errors?: unknown }).errors, JSON.stringify(answer));
          assert.deepEqual(await socket.next(), complete('a'));
        }
      }
      assert.deepEqual(await socket.roundTrip(), []);
    },
  },
];
