import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Claims } from '../../../src/graph/context/connection-facts.ts';
import { claimText, parseRevocation, printRevocation } from '../../../src/gateway/identity/revocation.ts';
import type { Revocation } from '../../../src/gateway/identity/revocation.ts';
import { Revocations } from '../../../src/gateway/identity/revocations.ts';

const NOW = Date.now();
const seconds = (ms: number) => Math.floor(ms / 1000);
const OLD = seconds(NOW) - 100;

const revocation = (overrides: Partial<Revocation> = {}): Revocation => ({
  name: 'sub',
  value: 'ida',
  atMs: NOW,
  untilMs: NOW + 60_000,
  reason: '',
  ...overrides,
});

/** Revocations of which one is known. */
function knowing(overrides: Partial<Revocation> = {}) {
  const revocations = new Revocations();
  const known = revocation(overrides);
  assert.equal(revocations.add(printRevocation(known), known), known.untilMs > Date.now());
  const ofToken = (token: Claims, claims = token) => revocations.refuses({ claims, token });
  return { revocations, ofToken };
}

describe('a revocation', () => {
  it('of a subject refuses tokens that were issued before it, and accepts those that were issued after it', () => {
    const { ofToken } = knowing();
    assert.equal(ofToken({ sub: 'ida', iat: OLD }), true);
    assert.equal(ofToken({ sub: 'ida', iat: seconds(NOW) }), true, 'in the same second');
    assert.equal(ofToken({ sub: 'ida', iat: seconds(NOW) + 1 }), false);
    assert.equal(ofToken({ sub: 'bob', iat: OLD }), false);
    assert.equal(ofToken({ user: 'ida', iat: OLD }), false);
  });

  it('refuses a token that does not say when it was issued, and claims without a token', () => {
    const { revocations, ofToken } = knowing();
    assert.equal(ofToken({ sub: 'ida' }), true);
    assert.equal(ofToken({ sub: 'ida', iat: '9999999999' }), true);
    assert.equal(revocations.refuses({ claims: { sub: 'ida' }, token: undefined }), true);
  });

  it('of a token id refuses the token whenever it was issued', () => {
    const { ofToken } = knowing({ name: 'jti', value: 'a' });
    assert.equal(ofToken({ jti: 'a', iat: seconds(NOW) + 50 }), true);
    assert.equal(ofToken({ jti: 'b', iat: OLD }), false);
  });

  it('looks at the claims of the token and at those of the graph, and takes the time from the token', () => {
    const { ofToken } = knowing();
    const later = seconds(NOW) + 5;
    assert.equal(ofToken({ sub: 'ida', iat: OLD }, { user: 7 }), true);
    assert.equal(ofToken({ sub: 'x', iat: OLD }, { sub: 'ida' }), true);
    assert.equal(ofToken({ sub: 'x', iat: OLD }, { sub: 'ida', iat: later }), true);
    assert.equal(ofToken({ sub: 'x', iat: later }, { sub: 'ida', iat: OLD }), false);
  });

  it('of a subject of one issuer leaves the subject of another issuer with the same name', () => {
    const { ofToken } = knowing({ issuer: 'https://a.example' });
    assert.equal(ofToken({ sub: 'ida', iss: 'https://a.example' }), true);
    assert.equal(ofToken({ sub: 'ida', iss: 'https://b.example' }), false);
    assert.equal(ofToken({ sub: 'ida' }), false);
    assert.equal(
      ofToken({ sub: 'ida', iss: 'https://a.example' }, { user: 7 }),
      true,
      'the issuer of the token counts',
    );
    assert.equal(ofToken({ sub: 'x', iss: 'https://b.example' }, { sub: 'ida', iss: 'https://a.example' }), false);
  });

  it('names any claim: by its very name, else by a path, and compares it as text', () => {
    const claims = {
      'https://a.example/tenant': 'a',
      realm: { tenant: 42, admin: true },
      'b.c': 'own',
      b: { c: 'path' },
    };
    const refused = (name: string, value: string) => knowing({ name, value }).ofToken(claims);
    assert.equal(refused('https://a.example/tenant', 'a'), true);
    assert.equal(refused('realm.tenant', '42'), true);
    assert.equal(refused('realm.admin', 'true'), true);
    assert.equal(refused('b.c', 'own'), true);
    assert.equal(refused('b.c', 'path'), false);
    assert.equal(refused('realm', '[object Object]'), false);
    assert.equal(refused('__proto__', '[object Object]'), false);
    assert.equal(refused('constructor.name', 'Object'), false);
    assert.equal(claimText({ list: ['a'] }, 'list'), undefined);
  });

  it('ends', (t) => {
    t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: NOW });
    const { revocations, ofToken } = knowing();
    knowing({ untilMs: NOW });
    t.mock.timers.tick(59_999);
    assert.equal(ofToken({ sub: 'ida', iat: OLD }), true);
    t.mock.timers.tick(1);
    assert.equal(ofToken({ sub: 'ida', iat: OLD }), false);
    t.mock.timers.tick(60_000);
    assert.equal(revocations.size, 0, 'forgotten');
  });

  it('is known once, however often it is added, and two of one subject are two', () => {
    const revocations = new Revocations();
    const [first, second] = [revocation(), revocation()];
    const text = printRevocation(first);
    assert.equal(revocations.add(text, first), true);
    assert.equal(revocations.add(text, first), false);
    assert.equal(revocations.add(printRevocation(second), second), true);
    assert.equal(revocations.size, 2);
  });

  it('is the same after it was printed, and no other text is one', () => {
    const printed = revocation({ name: 'a"b', value: '\u2028é', reason: 'x' });
    assert.deepEqual(parseRevocation(printRevocation(printed)), printed);
    const ofIssuer = { ...printed, issuer: 'https://a.example' };
    assert.deepEqual(parseRevocation(printRevocation(ofIssuer)), ofIssuer);
    for (const text of ['', '{', '[]', 'null', '{}', '{"name":"a","value":1,"atMs":1,"untilMs":1,"reason":""}'])
      assert.equal(parseRevocation(text), undefined, text);
  });
});

describe('Revocations', () => {
  it('know how long the tokens live that they were asked about', () => {
    const revocations = new Revocations();
    for (const lifeMs of [5_000, 1_000])
      revocations.refuses({ claims: {}, token: {} }, { expiresAtMs: Date.now() + lifeMs, begunAt: performance.now() });
    assert.ok(revocations.longestLifeMs > 4_000 && revocations.longestLifeMs <= 5_000);
  });

  it('that are not kept refuse the authentications that have begun, and no later one', (t) => {
    const revocations = new Revocations();
    t.after(() => revocations.close());
    const refusesSince = (begunAt: number, sub = 'ida') =>
      revocations.refuses({ claims: { sub }, token: { sub, iat: OLD } }, { expiresAtMs: undefined, begunAt });
    const begunAt = performance.now();
    assert.equal(refusesSince(begunAt), false);
    revocations.refuseInFlight(revocation());
    assert.deepEqual([refusesSince(begunAt), refusesSince(begunAt, 'bob')], [true, false]);
    assert.equal(refusesSince(performance.now() + 1), false);
    assert.equal(revocations.size, 0);
    for (let i = 0; i < 1_000; i++) revocations.refuseInFlight(revocation({ value: `user-${i}` }));
    assert.equal(refusesSince(begunAt), false, 'of more than 1,000 the first is forgotten');
    assert.equal(refusesSince(begunAt, 'user-999'), true);
  });

  it('are full with 20,000, until some have ended', (t) => {
    t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: NOW });
    const revocations = new Revocations();
    for (let i = 0; i < 20_000; i++) {
      assert.equal(revocations.isFull, false);
      revocations.add(String(i), revocation({ value: String(i), untilMs: NOW + (i === 7 ? 5 : 500) }));
    }
    assert.equal(revocations.isFull, true);
    t.mock.timers.tick(5);
    assert.equal(revocations.isFull, false);
  });
});
