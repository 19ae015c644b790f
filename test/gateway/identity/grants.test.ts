import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grantsSame } from '../../../src/gateway/identity/grants.ts';

describe('two tokens', () => {
  const claims = { sub: 'ida', exp: 1, iat: 0, jti: 'a', realm: { roles: ['x', 'y'] } };

  it('grant the same if they differ in their times and their id, or in the order of claims', () => {
    assert.ok(grantsSame(claims, { ...claims, exp: 2, iat: 1, nbf: 1, jti: 'b' }));
    assert.ok(grantsSame(claims, { realm: { roles: ['x', 'y'] }, sub: 'ida' }));
    assert.ok(grantsSame({}, {}));
  });

  const others = [
    { ...claims, realm: { roles: ['y', 'x'] } },
    { ...claims, realm: { roles: ['x'] } },
    { ...claims, realm: { roles: ['x', 'y'], exp: 1 } },
    { ...claims, extra: null },
    { sub: 'ida' },
    {},
  ];
  for (const other of others)
    it(`do not if the other has ${JSON.stringify(other)}`, () => assert.ok(!grantsSame(claims, other)));
});
