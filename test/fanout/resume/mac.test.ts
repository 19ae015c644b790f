import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Mac } from '../../../src/fanout/resume/mac.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 60, maxLength: 300 }));

describe('Mac', () => {
  it('is the HMAC-SHA-256 of any text with any secret, one after another', () => {
    fc.assert(
      fc.property(text, fc.array(text), (secret, texts) => {
        const mac = new Mac(secret);
        for (const each of texts) {
          assert.equal(mac.of(each), createHmac('sha256', Buffer.from(secret)).update(each).digest('base64url'));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
