import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refuseChannels, refuseVariables } from '../../src/graph/request-limits.ts';

const LIMITS = {
  maxVariableBytes: 100,
  maxVariableDepth: 2,
  maxVariableValues: 6,
  maxChannelBytes: 10,
  maxChannels: 3,
};

const nested = (levels: number) => JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`) as object;

const VALUES = 'The variables have more than 6 values (in proportion to MAX_MESSAGE_BYTES)';
const DEPTH = 'The variables are nested more than 2 levels deep';
const BYTES = 'The variables are longer than 100 bytes (a quarter of MAX_MESSAGE_BYTES)';

describe('refuseVariables', () => {
  const good: readonly (readonly [what: string, variables: object])[] = [
    ['none', {}],
    ['as many values as allowed', { a: 1, b: [1, 2], c: { d: null } }],
    ['values as deep as allowed', { a: [{ b: 1 }] }],
    ['values as long as allowed', { a: 'x'.repeat(92) }],
    ['keys of prototypes', JSON.parse('{"__proto__":{"toString":1}}') as object],
  ];
  for (const [what, variables] of good) {
    it(`accepts ${what}`, () => assert.equal(refuseVariables({ ...variables }, LIMITS), undefined));
  }

  const bad: readonly (readonly [what: string, variables: object, message: string])[] = [
    ['one value more', { a: 1, b: [1, 2], c: { d: null, e: 1 } }, VALUES],
    ['one level more', { a: [[[]]] }, DEPTH],
    ['levels past every stack', nested(30_000), DEPTH],
    ['one byte more', { a: 'x'.repeat(93) }, BYTES],
    ['bytes of UTF-8', { a: 'é'.repeat(47) }, BYTES],
    ['a long name', { ['x'.repeat(100)]: 1 }, BYTES],
  ];
  for (const [what, variables, message] of bad) {
    it(`refuses ${what}`, () => {
      const errors = refuseVariables({ ...variables }, LIMITS)?.errors.map((error) => error.toJSON());
      assert.deepEqual(errors, [{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
    });
  }
});

describe('refuseChannels', () => {
  it('counts bytes', () => {
    assert.equal(refuseChannels(['é'.repeat(5)], LIMITS), undefined);
    assert.match(
      refuseChannels(['a', 'é'.repeat(6)], LIMITS)!.errors[0]!.message,
      /10 bytes \(a sixteenth of MAX_MESSAGE_BYTES\)$/,
    );
  });
});
