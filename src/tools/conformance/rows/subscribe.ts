import assert from 'node:assert/strict';
import { assertComplete, assertData, assertError, assertNone, expectCloseEvent } from '../answers.ts';
import { subscribeMessage } from '../message.ts';
import type { ProtocolRow } from '../row.ts';
import type { Socket } from '../socket.ts';
import type { Stage } from '../stage.ts';

const TYPENAME = '{ __typename }';
/** No schema has these. */
const INVALID = '{ no_such_field_zzz }';

/** One result for this id, then its end. */
async function expectResult(socket: Socket, id: string): Promise<void> {
  assertData(await socket.next(), id);
  assertComplete(await socket.next(), id);
}

/** The document fails with one `error`, and no `complete` follows. The socket stays, and so does an operation beside it. */
async function failsAlone(stage: Stage, payload: object): Promise<void> {
  const socket = await stage.connect();
  const isLive = !stage.subject.missing.has('subscription');
  const feed = isLive ? await stage.start(socket, 'other') : undefined;
  socket.send({ id: 'bad', type: 'subscribe', payload });
  assertError(await socket.next(), 'bad');
  assertNone(await socket.roundTrip());
  if (feed && !stage.subject.missing.has('events')) await stage.event(socket, 'other', feed);
}

/** `subscribe` messages with this in place of the payload's own part. */
function withPayload(...parts: readonly object[]) {
  return parts.map((part) => ({ id: 'a', type: 'subscribe', payload: { query: TYPENAME, ...part } }));
}

export const subscribeRows: readonly ProtocolRow[] = [
  {
    id: 'C-24',
    level: 'P',
    title: 'closes with 4401 at a subscribe before init',
    source: 'protocol, "Subscribe"',
    async run(stage) {
      const socket = await stage.open();
      stage.ask(socket, 'a');
      await expectCloseEvent(socket, 4401, 'Unauthorized');
    },
  },
  {
    id: 'C-26',
    level: 'P',
    title: 'closes with 4409 at the id of a running subscription',
    source: 'protocol, "Subscribe"',
    needs: ['subscription'],
    async run(stage) {
      const feed = stage.subject.feed();
      for (const { query, variables } of [feed.operation, stage.subject.query]) {
        const socket = await stage.connect();
        await stage.start(socket, 'a', feed);
        socket.subscribe('a', query, variables);
        await expectCloseEvent(socket, 4409, 'Subscriber for a already exists');
      }
    },
  },
  {
    id: 'C-28',
    level: 'P',
    title: "accepts an id again after the server's complete",
    source: 'protocol, "Subscribe"',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      for (let i = 0; i < 3; i++) {
        stage.ask(socket, 'a');
        await expectResult(socket, 'a');
      }
    },
  },
  {
    id: 'C-29',
    level: 'P',
    title: "accepts an id again after error, and after the client's complete",
    source: 'protocol, "Subscribe"',
    needs: ['subscription'],
    async run(stage) {
      const socket = await stage.connect();
      socket.subscribe('a', INVALID);
      assertError(await socket.next(), 'a');
      for (let i = 0; i < 2; i++) {
        await stage.start(socket, 'a');
        await stage.complete(socket, 'a');
      }
    },
  },
  {
    id: 'C-31',
    level: 'REC',
    title: 'answers a syntax error with error for that id; the socket and other operations stay',
    source: 'crier: a close would end all operations of the client',
    run: (stage) => failsAlone(stage, { query: '{ hello' }),
  },
  {
    id: 'C-32',
    level: 'P',
    title: 'answers a validation error with one error, no next and no complete',
    source: 'protocol, "Error" and "Complete"',
    async run(stage) {
      await failsAlone(stage, { query: INVALID });
      // A schema may have no subscriptions.
      if (!stage.subject.missing.has('subscription')) await failsAlone(stage, { query: `subscription ${INVALID}` });
    },
  },
  {
    id: 'C-33',
    level: 'P',
    title: 'answers an operation that cannot be identified with error',
    source: 'protocol, "Error"',
    async run(stage) {
      await failsAlone(stage, { query: TYPENAME, operationName: 'Unknown' });
      await failsAlone(stage, { query: `query A ${TYPENAME} query B ${TYPENAME}` });
    },
  },
  {
    id: 'C-34',
    level: 'P',
    title: 'answers a query with one next, then complete',
    source: 'protocol, "Single result operation"',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      stage.ask(socket, 'a');
      await expectResult(socket, 'a');
      assertNone(await socket.roundTrip());
    },
  },
  {
    id: 'C-37',
    level: 'P',
    title: 'accepts operationName, variables and extensions that are null or absent',
    source: 'protocol, "Subscribe"',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      const absent = { operationName: null, variables: null, extensions: null };
      for (const [index, message] of withPayload({}, absent, { variables: {} }).entries()) {
        const id = `${index}`;
        socket.send({ ...message, id });
        await expectResult(socket, id);
      }
    },
  },
  {
    id: 'C-38',
    level: 'P',
    title: 'closes with 4400 when variables or extensions are not an object',
    source: 'protocol, "Subscribe" and "Invalid message"',
    run: (stage) =>
      stage.refuses(4400, withPayload(...['', 0, []].flatMap((bad) => [{ variables: bad }, { extensions: bad }]))),
  },
  {
    id: 'C-39',
    level: 'P',
    title: 'closes with 4400 when operationName or query is not a string, or query or payload is missing',
    source: 'protocol, "Subscribe" and "Invalid message"',
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
    source: 'crier: a close would end all operations of the client',
    run: (stage) => failsAlone(stage, { query: '' }),
  },
  {
    id: 'C-41',
    level: 'P',
    title: 'closes with 4400 at a subscribe without an id or with one that is not a string',
    source: 'protocol, "Communication" and "Invalid message"',
    run: (stage) =>
      stage.refuses(
        4400,
        [undefined, 0, {}, null].map((id) => ({ id, type: 'subscribe', payload: { query: TYPENAME } })),
      ),
  },
  {
    id: 'X-19',
    level: 'REF',
    title: 'closes with 4400 at an empty id',
    source: 'graphql-ws; the protocol has no word on it',
    run: (stage) =>
      stage.refuses(4400, [
        { id: '', type: 'subscribe', payload: { query: TYPENAME } },
        { id: '', type: 'complete' },
      ]),
  },
  {
    id: 'C-45',
    level: 'P',
    title: 'sends results of data, errors and extensions only, without errors if there are none',
    source: 'protocol, "Next": an ExecutionResult of graphql-js',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      stage.ask(socket, 'a');
      const result = await socket.next();
      assertData(result, 'a');
      const { errors, ...others } = result.payload as Record<string, unknown>;
      assert.ok(
        errors === undefined || (Array.isArray(errors) && errors.length > 0),
        `errors: ${JSON.stringify(errors)}`,
      );
      const unknown = Object.keys(others).filter((key) => !['data', 'extensions', 'hasNext'].includes(key));
      assert.ok(unknown.length === 0, `unknown keys of the result: ${unknown.join(', ')}`);
    },
  },
  {
    id: 'X-13',
    level: 'P',
    title: 'runs the operation that operationName names',
    source: 'protocol, "Subscribe"; GraphQL, "GetOperation"',
    needs: ['query'],
    async run(stage) {
      const socket = await stage.connect();
      const query = 'query A { a: __typename } query B { b: __typename }';
      for (const operationName of ['B', 'A']) {
        socket.send({ ...subscribeMessage(operationName, query), payload: { query, operationName } });
        const data = assertData(await socket.next(), operationName);
        const [key] = Object.keys(data);
        assert.ok(key === operationName.toLowerCase(), `operation ${operationName}: got data ${JSON.stringify(data)}`);
        assertComplete(await socket.next(), operationName);
      }
    },
  },
];
