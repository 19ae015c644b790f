import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { validateMessage } from 'graphql-ws';
import { messageProblem } from '../../../src/gateway/websocket/message-problem.ts';

const subscribe = (payload: unknown, id: unknown = '1') => ({ type: 'subscribe', id, payload });

describe('messageProblem', () => {
  const rows: readonly (readonly [message: unknown, problem: string])[] = [
    [null, 'A message must be a JSON object, got null'],
    ['x', 'A message must be a JSON object, got a string'],
    [[{ type: 'ping' }], 'A batch of messages is not supported: send each message alone'],
    [{}, 'type must be a string, got nothing'],
    [{ type: 7 }, 'type must be a string, got a number'],
    [
      { type: 'start', id: '1' },
      'type "start": this is graphql-transport-ws, where it is subscribe (npm package graphql-ws)',
    ],
    [{ type: 'next', id: '1' }, 'type "next" is of servers'],
    [{ type: 'nuxt' }, 'type must be connection_init, subscribe, complete, ping or pong'],
    [{ type: 'connection_init', payload: 'token' }, 'payload must be an object, got a string'],
    [{ type: 'complete' }, 'id must be a string, got nothing'],
    [{ type: 'complete', id: '' }, 'id must not be empty'],
    [subscribe({ query: 'x' }, 5), 'id must be a string, got a number'],
    [subscribe(undefined), 'payload must be an object, got nothing'],
    [subscribe([{ query: 'x' }]), 'payload must be an object, got an array'],
    [subscribe({}), 'payload.query is missing'],
    [subscribe({ query: {} }), 'query must be a string, got an object'],
    [subscribe({ query: null }), 'query must be a string, got null'],
    [subscribe({ query: 'x', operationName: 5 }), 'operationName must be a string, got a number'],
    [subscribe({ query: 'x', variables: '{}' }), 'variables must be an object, got a string'],
    [subscribe({ query: 'x', extensions: [] }), 'extensions must be an object, got an array'],
  ];
  for (const [message, problem] of rows)
    it(`says of ${JSON.stringify(message)}: ${problem}`, () => assert.equal(messageProblem(message), problem));

  it('fits into the reason of a close, names what graphql-ws refuses, and shows no value', () => {
    const secret = 'SECRET';
    const value = fc.constantFrom(undefined, null, secret, '', 5, true, {}, { a: secret }, [secret]);
    const type = fc.constantFrom('connection_init', 'subscribe', 'complete', 'ping', 'pong', 'start', secret, 5);
    const payload = fc.oneof(
      value,
      fc.record({ query: value, variables: value, operationName: value, extensions: value }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(fc.record({ type, id: value, payload }, { requiredKeys: [] }), (message) => {
        let refusal: string;
        try {
          validateMessage(message);
          return;
        } catch (error) {
          refusal = (error as Error).message;
        }
        const problem = messageProblem(message);
        assert.ok(Buffer.byteLength(problem) <= 123 && !problem.includes(secret), problem);
        const [, property = 'type'] = /'(\w+)' property/.exec(refusal) ?? [];
        assert.ok(problem.includes(property), `${problem}; graphql-ws: ${refusal}`);
      }),
      { numRuns: 2000 },
    );
  });
});
