import assert from 'node:assert/strict';
import { parse } from 'graphql';
import { subscribeMessage } from '../../support/socket.ts';
import { assertError, complete, expectClose, LIVE, LIVE_LATER, next, SLOW } from './row.ts';
import type { Row, Stage } from './row.ts';

const HELLO = '{ hello }';
const TICKS = 'subscription ($count: Int!) { ticks(count: $count) }';

function ticks(id: string, count: number) {
  return [...Array.from({ length: count }, (_, i) => next(id, { ticks: i + 1 })), complete(id)];
}

/** `subscribe` messages with this in place of the payload's own part. */
function withPayload(...parts: readonly object[]) {
  return parts.map((part) => ({ id: 'a', type: 'subscribe', payload: { query: HELLO, ...part } }));
}

/** The document fails with one `error`, no `complete` follows, and the operation beside it stays live. */
async function failsAlone(stage: Stage, payload: object): Promise<void> {
  const socket = await stage.connect();
  const probe = await stage.live(socket, 'other');
  socket.send({ id: 'bad', type: 'subscribe', payload });
  assertError(await socket.next(), 'bad');
  assert.deepEqual(await socket.roundTrip(), []);
  probe.push(1);
  assert.deepEqual(await socket.next(), next('other', { live: { value: 1 } }));
}

export const subscribeRows: readonly Row[] = [
  {
    id: 'C-24',
    level: 'P',
    title: 'closes with 4401 at a subscribe before init',
    async run(stage) {
      const socket = await stage.open();
      socket.subscribe('a', HELLO);
      assert.equal((await expectClose(socket, 4401)).reason, 'Unauthorized');
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
    id: 'C-26',
    level: 'P',
    title: 'closes with 4409 at the id of a running subscription',
    async run(stage) {
      const socket = await stage.connect();
      await stage.live(socket, 'a');
      socket.subscribe('a', HELLO);
      assert.equal((await expectClose(socket, 4409)).reason, 'Subscriber for a already exists');
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
    id: 'C-28',
    level: 'P',
    title: "accepts an id again after the server's complete",
    async run(stage) {
      const socket = await stage.connect();
      for (let i = 0; i < 3; i++) {
        socket.subscribe('a', TICKS, { count: 2 });
        assert.deepEqual(await socket.take(3), ticks('a', 2));
      }
    },
  },
  {
    id: 'C-29',
    level: 'P',
    title: "accepts an id again after error, and after the client's complete",
    async run(stage) {
      const socket = await stage.connect();
      socket.subscribe('a', '{ nothing }');
      assertError(await socket.next(), 'a');
      const probe = await stage.live(socket, 'a');
      socket.complete('a');
      assert.deepEqual(await socket.roundTrip(), []);
      assert.equal(probe.returns, 1);
      socket.subscribe('a', TICKS, { count: 1 });
      assert.deepEqual(await socket.take(2), ticks('a', 1));
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
    id: 'C-31',
    level: 'REC',
    title: 'answers a syntax error with error for that id; the socket and other operations stay',
    run: (stage) => failsAlone(stage, { query: '{ hello' }),
  },
  {
    id: 'C-32',
    level: 'P',
    title: 'answers a validation error with one error, no next and no complete',
    run: (stage) => failsAlone(stage, { query: 'subscription { nothing }' }),
  },
  {
    id: 'C-33',
    level: 'P',
    title: 'answers an operation that cannot be identified with error',
    async run(stage) {
      await failsAlone(stage, { query: HELLO, operationName: 'Unknown' });
      await failsAlone(stage, { query: 'query A { hello } query B { hello }' });
    },
  },
  {
    id: 'C-34',
    level: 'P',
    title: 'answers a query with one next, then complete',
    async run(stage) {
      const socket = await stage.connect();
      socket.subscribe('a', HELLO);
      assert.deepEqual(await socket.take(2), [next('a', { hello: 'world' }), complete('a')]);
      assert.deepEqual(await socket.roundTrip(), []);
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
    id: 'C-37',
    level: 'P',
    title: 'accepts operationName, variables and extensions that are null or absent',
    async run(stage) {
      const socket = await stage.connect();
      for (const message of withPayload(
        {},
        { operationName: null, variables: null, extensions: null },
        { variables: {} },
      )) {
        socket.send(message);
        assert.deepEqual(await socket.take(2), [next('a', { hello: 'world' }), complete('a')]);
      }
    },
  },
  {
    id: 'C-38',
    level: 'P',
    title: 'closes with 4400 when variables or extensions are not an object',
    run: (stage) =>
      stage.refuses(4400, withPayload(...['', 0, []].flatMap((bad) => [{ variables: bad }, { extensions: bad }]))),
  },
  {
    id: 'C-39',
    level: 'P',
    title: 'closes with 4400 when operationName or query is not a string, or query or payload is missing',
    run: (stage) =>
      stage.refuses(4400, [
        ...withPayload({ operationName: 0 }, { operationName: {} }, { query: undefined }, { query: 0 }, { query: {} }),
        { id: 'a', type: 'subscribe' },
        { id: 'a', type: 'subscribe', payload: null },
        { id: 'a', type: 'subscribe', payload: [] },
      ]),
  },
  {
    id: 'C-40',
    level: 'REC',
    title: 'answers an empty query with error',
    run: (stage) => failsAlone(stage, { query: '' }),
  },
  {
    id: 'C-41',
    level: 'REF',
    title: 'closes with 4400 when the id is missing, empty or not a string',
    run: (stage) =>
      stage.refuses(
        4400,
        [undefined, 0, '', {}, null].map((id) => ({ id, type: 'subscribe', payload: { query: HELLO } })),
      ),
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
  {
    id: 'X-13',
    level: 'P',
    title: 'runs the operation that operationName names, with its variables',
    async run(stage) {
      const socket = await stage.connect();
      const query = 'query A { hello } subscription B($token: String!) { live(token: $token) { value } }';
      const probe = stage.probe();
      socket.send({
        id: 'b',
        type: 'subscribe',
        payload: { query, operationName: 'B', variables: { token: probe.token } },
      });
      await socket.roundTrip();
      probe.push(4);
      assert.deepEqual(await socket.next(), next('b', { live: { value: 4 } }));
      socket.subscribe('c', LIVE.replace('value', 'v: value'), { token: probe.token });
      await socket.roundTrip();
      probe.push(5);
      assert.deepEqual(
        new Set((await socket.take(2)).map((message) => JSON.stringify(message))),
        new Set(
          [next('b', { live: { value: 5 } }), next('c', { live: { v: 5 } })].map((message) => JSON.stringify(message)),
        ),
      );
    },
  },
];
