import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describe as describeError } from '../../src/bus/redis-link.ts';

describe('what went wrong with a link', () => {
  it('is its message, without the arguments that Redis repeats, or its code, or its name', () => {
    // Of a name with two addresses that both refuse; Node.js gives it no message.
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    for (const [error, text] of [
      [new Error('Connection is closed.'), 'Connection is closed.'],
      [new Error("ERR unknown command 'GETT', with args beginning with: 'secret'"), "ERR unknown command 'GETT'"],
      [refused, 'ECONNREFUSED'],
      [new AggregateError([]), 'AggregateError'],
      [Object.assign(new RangeError(), { code: 7 }), 'RangeError'],
    ] as const) {
      assert.equal(describeError(error), text);
    }
  });
});
