import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharingKey } from '../../../src/graph/documents/sharing-key.ts';

const operation = { key: 'document', name: undefined };

const keyOf = (coerced: unknown, sent: unknown) => sharingKey(operation, { value: coerced }, { value: sent });

/** What a custom scalar may make of a text: a text that reads the same is hidden in it. */
const COERCED: Record<string, (text: string) => unknown> = {
  'a match': (text) => /^./.exec(text),
  'a list of a class': (text) =>
    new (class Texts extends Array<string> {
      readonly #text = text;
      get text() {
        return this.#text;
      }
    })(),
  'an object with a symbol': (text) => ({ [Symbol('text')]: text }),
  'an object with a hidden member': (text) => Object.defineProperty({}, 'text', { value: text }),
  'a date': (text) => new Date(text === 'ab' ? 1 : 2),
  'a function': (text) => () => text,
};

describe('variables of a custom scalar', () => {
  for (const [what, coerced] of Object.entries(COERCED)) {
    it(`have equal keys only for equal values: ${what}`, () => {
      assert.equal(keyOf(coerced('ab'), 'ab'), keyOf(coerced('ab'), 'ab'));
      assert.notEqual(keyOf(coerced('ab'), 'ab'), keyOf(coerced('ac'), 'ac'));
    });
  }

  it('have a key that no other value has', () => {
    const plain = sharingKey(operation, { sent: { sent: 'x' } }, { sent: 'y' });
    const odd = sharingKey(operation, { sent: new Date() }, { sent: 'x' });
    assert.notEqual(plain, odd);
  });

  it('have one key for equal plain data, however it was sent', () => {
    assert.equal(keyOf({ a: [1, { b: null }] }, '1'), keyOf({ a: [1, { b: null }] }, '01'));
  });
});
