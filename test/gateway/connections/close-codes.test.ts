import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CLOSE_CODES, closeLabel, closeFrameReason } from '../../../src/gateway/connections/close-codes.ts';

describe('closeLabel', () => {
  it('returns the code of RFC 6455 and the protocol, and "other" for all others', () => {
    for (const code of [1000, 1001, 1006, 1008, 1013, 1015, 4400, 4403, 4408, 4409, 4429]) {
      assert.equal(closeLabel(code), String(code));
    }
    const labels = new Set(Array.from({ length: 5000 }, (_, code) => closeLabel(code)));
    assert.ok(labels.has('other'));
    assert.ok(labels.size < 40, `${labels.size} labels`);
  });
});

describe('CLOSE_CODES', () => {
  it('have a label each', () => {
    for (const code of Object.values(CLOSE_CODES)) assert.equal(closeLabel(code), String(code));
  });

  it('are those of docs/reference/errors.md', () => {
    const [, table = ''] = readFileSync('docs/reference/errors.md', 'utf8').split('## Close codes\n');
    const codes = [...table.matchAll(/^\|[^|]+\| (\d{4}) +\|[^|]+\|$/gm)].map(([, code]) => Number(code));
    assert.deepEqual(new Set(codes), new Set(Object.values(CLOSE_CODES)));
  });
});

describe('closeFrameReason', () => {
  it('keeps a text of 123 bytes and cuts a longer one between characters', () => {
    for (const [text, kept] of [
      ['x'.repeat(123), 123],
      ['x'.repeat(124), 123],
      [`xx${'é'.repeat(61)}`, 62],
      ['😀'.repeat(31), 60],
    ] as const) {
      assert.equal(closeFrameReason(text), text.slice(0, kept));
    }
  });
});
