import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isCallbackAllowed } from '../../../src/config/addresses/callback-url.ts';
import { readConfig } from '../../../src/config/config.ts';

const PREFIXES = ['https://router.example.com/callback', 'http://*.routers.test:4000/any', 'http://10.0.0.1:4000/a/'];

const URLS: Readonly<Record<string, boolean>> = {
  'https://router.example.com/callback': true,
  'https://router.example.com:443/callback/1?a=1': true,
  'https://router.example.com/callback/': true,
  'https://router.example.com/callbacks': false,
  'https://router.example.com/': false,
  'https://router.example.com/callback/../admin': false,
  'https://router.example.com/callback/%2e%2e/admin': false,
  'https://router.example.com/callback/%2e%2e%2fadmin': false,
  'https://router.example.com/callback/..%5cadmin': false,
  'https://router.example.com/callback/%252e%252e/admin': false,
  'https://router.example.com/callback/..%25252fadmin': false,
  'https://router.example.com/callback/..;/admin': false,
  'https://router.example.com/callback/..%3b/admin': false,
  'https://router.example.com/callback/a;b=..1': true,
  'https://router.example.com:4000/callback': false,
  'http://router.example.com/callback': false,
  'https://router.example.com.evil.example/callback': false,
  'https://evil.example/https://router.example.com/callback': false,
  'http://router-1.routers.test:4000/any': true,
  'http://routers.test:4000/any': false,
  'http://.routers.test:4000/any': false,
  'http://a.router-1.routers.test:4000/any': false,
  'http://evil.example:4000/.routers.test': false,
  'http://router-1.routers.test/any': false,
  'http://10.0.0.1:4000/a': true,
  'http://10.0.0.1:4000/a/b': true,
  'http://10.0.0.1:4000/b': false,
  // The same address, written otherwise.
  'http://167772161:4000/a': true,
  'http://10.0.0.10:4000/a': false,
};

describe('isCallbackAllowed', () => {
  for (const [url, isAllowed] of Object.entries(URLS))
    it(`${isAllowed ? 'allows' : 'refuses'} ${url}`, () => {
      assert.equal(isCallbackAllowed(new URL(url), PREFIXES), isAllowed);
    });

  it('refuses every URL without a setting', () => {
    assert.equal(isCallbackAllowed(new URL('http://localhost/'), []), false);
  });
});

describe('CALLBACK_URLS', () => {
  for (const url of [
    'router.example.com',
    'ftp://router.example.com',
    'https://user:password@router.example.com',
    'https://router.example.com/callback?a=1',
    'https://*',
    'https://router.example.com',
    'https://router.example.com/',
    'https://*/callback',
    'https://*.com/callback',
    'https://*.com./callback',
    'https://*.*.example.com/callback',
    'https://router.*.example.com/callback',
    'https://router.example.com/%2fcallback',
    'https://router.example.com/callback/..;/',
  ])
    it(`stops the start with ${url}, and names it`, () => {
      assert.throws(() => readConfig({ CALLBACK_URLS: url }), /^ConfigError: CALLBACK_URLS: expected http/);
    });

  it('takes several URLs', () => {
    const { CALLBACK_URLS } = readConfig({ CALLBACK_URLS: PREFIXES.join(', ') });
    assert.deepEqual(CALLBACK_URLS, PREFIXES);
  });
});
