import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describe } from '../../../src/bus/redis/reply-error.ts';

it('describes an error of a link by its message, without the arguments that Redis repeats, or by its code, or its name', () => {
  // Of a name with two addresses that both refuse; Node.js gives it no message.
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  for (const [error, text] of [
    [new Error('Connection is closed.'), 'Connection is closed.'],
    [new Error("ERR unknown command 'GETT', with args beginning with: 'secret'"), "ERR unknown command 'GETT'"],
    [refused, 'ECONNREFUSED'],
    [new AggregateError([]), 'AggregateError'],
    [Object.assign(new RangeError(), { code: 7 }), 'RangeError'],
  ] as const) {
    assert.equal(describe(error), text);
  }
});
