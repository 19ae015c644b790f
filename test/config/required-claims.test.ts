import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasRequiredClaim, parseRequiredClaim } from '../../src/config/required-claims.ts';

describe('parseRequiredClaim', () => {
  const rows: readonly (readonly [string, object | undefined])[] = [
    ['azp:app', { name: 'azp', values: ['app'] }],
    ['client_id:app1|app2', { name: 'client_id', values: ['app1', 'app2'] }],
    ['cognito:groups=admin', { name: 'cognito:groups', values: ['admin'] }],
    ['https://example.com/role=a:b', { name: 'https://example.com/role', values: ['a:b'] }],
    [
      'azp=https://a.example.com|https://b.example.com',
      { name: 'azp', values: ['https://a.example.com', 'https://b.example.com'] },
    ],
    ['cognito:groups:admin', undefined],
    ['azp:https://a.example.com', undefined],
    ['azp', undefined],
    ['azp:', undefined],
    [':app', undefined],
    ['azp:app|', undefined],
  ];
  for (const [text, expected] of rows)
    it(`reads "${text}"`, () => assert.deepEqual(parseRequiredClaim(text), expected));
});

describe('hasRequiredClaim', () => {
  const has = (claim: unknown, values: string[], name = 'x') => hasRequiredClaim({ [name]: claim }, { name, values });

  it('compares texts, numbers and booleans, and looks into lists', () => {
    assert.ok(has('a', ['b', 'a']));
    assert.ok(has(7, ['7']));
    assert.ok(has(true, ['true']));
    assert.ok(has(['a', 'b'], ['b']));
  });

  it('looks into scopes, whose text is a list', () => {
    assert.ok(has('openid orders/read', ['orders/read'], 'scope'));
    assert.ok(!has('openid orders/read', ['orders'], 'scope'));
    assert.ok(!has('a b', ['a']));
  });

  it('takes nothing else for a value', () => {
    for (const claim of [undefined, null, {}, [['a']], { a: 'a' }]) assert.ok(!has(claim, ['a', 'null', 'undefined']));
    assert.ok(!hasRequiredClaim({}, { name: 'constructor', values: ['function Object() { [native code] }'] }));
  });
});
