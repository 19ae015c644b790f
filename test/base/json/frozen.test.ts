import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFrozen } from '../../../src/base/json/frozen.ts';

function isFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

describe('parseFrozen', () => {
  it('returns the value of JSON.parse, frozen at every level', () => {
    for (const text of ['{"a":[1,{"b":null,"__proto__":{"c":[]}}],"d":"x"}', '[[],{}]', '7', 'null', '"x"']) {
      assert.deepEqual(parseFrozen(text), JSON.parse(text));
      assert.ok(isFrozen(parseFrozen(text)), text);
    }
  });

  it('accepts nesting deeper than the stack', () => {
    const levels = 200_000;
    assert.ok(Object.isFrozen(parseFrozen('['.repeat(levels) + ']'.repeat(levels))));
  });

  it('throws for text that is not JSON', () => assert.throws(() => parseFrozen('{'), SyntaxError));
});
