import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOriginAllowed } from '../../src/http/origin.ts';

const ALLOWED = ['https://app.example.com'];
const HOST = 'api.example.com';

describe('isOriginAllowed', () => {
  it("allows a missing Origin, the server's own and the listed ones", () => {
    for (const origin of [undefined, 'https://api.example.com', 'https://app.example.com']) {
      assert.equal(isOriginAllowed(origin, HOST, ALLOWED), true, origin);
    }
    assert.equal(isOriginAllowed('http://localhost:4000', 'localhost:4000', []), true);
  });

  for (const origin of [
    'https://evil.example',
    'https://app.example.com.evil.com',
    'https://evilapp.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://api.example.com:8443',
    'null',
    '',
    'https://app.example.com/',
    'chrome-extension://api.example.com',
  ]) {
    it(`refuses ${JSON.stringify(origin)}`, () => {
      assert.equal(isOriginAllowed(origin, HOST, ALLOWED), false);
    });
  }

  it('allows every Origin with *', () => {
    assert.equal(isOriginAllowed('https://evil.example', HOST, ['*']), true);
  });
});
