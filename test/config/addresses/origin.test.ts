import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, it } from 'node:test';
import {
  isOrigin,
  isOriginAllowed,
  isSiteOrigin,
  originFix,
  originRefusal,
} from '../../../src/config/addresses/origin.ts';

const ALLOWED = { allowed: ['https://app.example.com'], own: '' };
const HOST = 'api.example.com';

describe('isOriginAllowed', () => {
  it("allows a missing Origin, the server's own and the listed ones", () => {
    for (const origin of [undefined, 'https://api.example.com', 'https://app.example.com']) {
      assert.equal(isOriginAllowed(origin, HOST, ALLOWED), true, origin);
    }
    assert.equal(isOriginAllowed('http://localhost:4000', 'localhost:4000', { allowed: [], own: '' }), true);
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
    assert.equal(isOriginAllowed('https://evil.example', HOST, { allowed: ['*'], own: '' }), true);
  });

  describe("where the server's own origin is known", () => {
    const own = { allowed: ['https://app.example.com'], own: 'https://api.example.com' };

    it('allows it and the listed ones, whatever Host says', () => {
      assert.equal(isOriginAllowed('https://api.example.com', '10.0.0.1:4000', own), true);
      assert.equal(isOriginAllowed('https://app.example.com', HOST, own), true);
    });

    it('refuses a page whose name was pointed to this server (DNS rebinding), which is allowed otherwise', () => {
      assert.equal(isOriginAllowed('http://evil.example', 'evil.example', own), false);
      assert.equal(isOriginAllowed('http://evil.example', 'evil.example', { ...own, own: '' }), true);
      assert.equal(isOriginAllowed('http://api.example.com', 'api.example.com', own), false);
    });
  });
});

describe('the origin of an app', () => {
  const apps = ['capacitor://localhost', 'tauri://localhost', 'chrome-extension://mdplmiioglkpgkgblfdilgebpppgdlm'];
  const listed = { allowed: apps, own: '' };

  it('is allowed by its exact text where it is listed', () => {
    for (const origin of apps) assert.equal(isOriginAllowed(origin, HOST, listed), true, origin);
  });

  for (const origin of [
    'Capacitor://LOCALHOST',
    'capacitor://localhost.evil',
    'capacitor://localhost:1',
    'capacitor://localhost/',
    'ionic://localhost',
    'http://localhost',
    'chrome-extension://other',
    'null',
  ])
    it(`is no other: ${origin}`, () => assert.equal(isOriginAllowed(origin, HOST, listed), false));

  it('is no name of the server', () => {
    const origins = { allowed: ['app://evil.example'], own: 'https://api.example.com' };
    assert.equal(originRefusal({ host: 'evil.example' }, origins)?.reason, 'host');
    assert.equal(originRefusal({ host: 'api.example.com', origin: 'app://evil.example' }, origins), undefined);
  });

  it('cannot be the own one, which clients connect to', () => {
    for (const origin of apps) assert.ok(isOrigin(origin) && !isSiteOrigin(origin));
  });
});

describe('originRefusal', () => {
  const origins = { allowed: ['https://app.example.com', 'http://crier.default.svc'], own: 'https://api.example.com' };
  const reasonOf = (headers: IncomingHttpHeaders, of = origins) => originRefusal(headers, of)?.reason;

  it('refuses a request whose Host is another name, which a page without Origin has after DNS rebinding', () => {
    for (const host of [
      'evil.example',
      'evil.example:4000',
      'api.example.com.evil.example',
      'localhost.evil.example',
      '',
    ]) {
      assert.equal(reasonOf({ host }), 'host', host);
      assert.equal(reasonOf({ host, 'sec-fetch-site': 'same-origin' }), 'host', host);
      assert.equal(reasonOf({ host }, { ...origins, own: '' }), undefined, 'without PUBLIC_ORIGIN it is not known');
    }
  });

  it('allows the own name and those of listed origins with any port, and names that nobody can point elsewhere', () => {
    for (const host of [
      'api.example.com',
      'API.example.com:443',
      'api.example.com:4000',
      'app.example.com',
      'crier.default.svc:4000',
      '10.0.0.1:4000',
      '[::1]:4000',
      'localhost:4000',
      undefined,
    ]) {
      assert.equal(reasonOf({ host }), undefined, host);
    }
  });

  it('refuses a request without Origin that a browser calls foreign', () => {
    for (const site of ['cross-site', 'same-site']) {
      assert.equal(reasonOf({ host: 'api.example.com', 'sec-fetch-site': site }), 'origin', site);
      const origin = 'https://app.example.com';
      assert.equal(reasonOf({ host: 'api.example.com', origin, 'sec-fetch-site': site }), undefined, site);
    }
    for (const site of ['same-origin', 'none', undefined]) {
      assert.equal(reasonOf({ host: 'api.example.com', 'sec-fetch-site': site }), undefined, site);
    }
  });

  it('refuses nothing with *', () => {
    const any = { ...origins, allowed: ['*'] };
    assert.equal(reasonOf({ host: 'evil.example', origin: 'http://evil.example' }, any), undefined);
    assert.equal(reasonOf({ host: 'evil.example', 'sec-fetch-site': 'cross-site' }, any), undefined);
  });
});

describe('isOrigin', () => {
  for (const text of ['https://app.example.com', 'http://localhost:3000', 'http://[::1]:3000']) {
    it(`accepts ${text}`, () => assert.ok(isOrigin(text)));
  }
  for (const text of [
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://*.example.com',
    'null',
    'file:///x',
    'file://',
    'wss://app.example.com',
    'data://x',
    'Capacitor://localhost',
    'capacitor://*',
    'capacitor://localhost/',
    'capacitor://user@localhost',
    'capacitor:localhost',
    'https://app.example.com/path',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.ok(!isOrigin(text)));
  }
});

describe('originFix', () => {
  const fixes = Object.entries({
    'http://localhost:5173/': '; remove the slash at its end: http://localhost:5173',
    'https://App.example.com:443/path?x': '; write https://app.example.com',
    'app.example.com': '; write https://app.example.com',
    'app.example.com:8443': '; write https://app.example.com:8443',
    'localhost:5173': '; write http://localhost:5173',
    localhost: '; write http://localhost',
    '127.0.0.1:4000/': '; write http://127.0.0.1:4000',
    '[::1]:4000': '; write http://[::1]:4000',
    '192.168.1.7:5173': '; write http://192.168.1.7:5173',
    'https://*.example.com': '; a wildcard within an origin matches nothing: list each origin',
    'wss://app.example.com/graphql': '; write https://app.example.com',
    'Capacitor://localhost/': '; write capacitor://localhost',
    'capacitor://localhost/': '; remove the slash at its end: capacitor://localhost',
    'chrome-extension://*': '; a wildcard within an origin matches nothing: list each origin',
    null: '; files and sandboxed pages of everybody have this one: give the page an origin',
    'file:///x': '',
    'https://user:password@example.com': '',
  });
  for (const [text, fix] of fixes)
    it(`proposes ${fix || 'nothing'} for ${text}`, () => assert.equal(originFix(text), fix));
});
