import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Composer, snippet } from '../../../src/base/json/composer.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((value) => Buffer.from(value).toString()),
);

/** The parts of texts, written in different ways. */
const part = fc.oneof(
  text.map((value) => ({ value, write: (composer: Composer) => composer.snippet(snippet(value)) })),
  text.map((value) => ({ value, write: (composer: Composer) => composer.string(value) })),
  text.map((value) => ({
    value,
    write: (composer: Composer) => {
      const bytes = Buffer.from(`before ${value} and behind`);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      composer.copy(view, 7, 7 + Buffer.byteLength(value));
    },
  })),
  fc.constantFrom('{', '}', ',').map((value) => ({
    value,
    write: (composer: Composer) => composer.byte(value.charCodeAt(0)),
  })),
);

describe('Composer', () => {
  it('returns the written parts, and starts each text empty', () => {
    const composer = new Composer(4000);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        composer.clear();
        for (const { write } of parts) write(composer);
        const whole = parts.map(({ value }) => value).join('');
        assert.equal(composer.length, Buffer.byteLength(whole));
        assert.equal(String(composer.takeShared()), whole);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps copies in shared memory unchanged by later texts, also one larger than that memory', () => {
    const composer = new Composer(4000);
    const texts = Array.from({ length: 40 }, (_, i) => `${i % 10}`.repeat(i % 13 === 5 ? 100_000 : i * 200 + 1));
    const copies = texts.map((text) => {
      composer.clear();
      composer.string(text);
      return composer.takeShared();
    });
    assert.deepEqual(copies.map(String), texts);
    assert.ok(new Set(copies.map(({ buffer }) => buffer)).size < copies.length / 2);
  });

  it('holds a text up to its bound, whatever part is written last', () => {
    for (const size of [1, 2, 3, 4, 5, 64]) {
      const value = 'x'.repeat(size);
      const composer = new Composer(size);
      composer.snippet(snippet(value));
      assert.equal(String(composer.takeShared()), value);
      composer.clear();
      composer.string(value);
      assert.equal(String(composer.takeShared()), value);
    }
  });
});
