import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessRule } from '../../../src/graph/access/access-rule.ts';
import type { ScopeSets } from '../../../src/graph/access/access-rule.ts';

const answer = (demands: readonly ScopeSets[], claims: Record<string, unknown>) =>
  new AccessRule(demands).answer({ claims });
const READ = [[['read']]];

describe('AccessRule', () => {
  it('takes a connection with any claim for authenticated', () => {
    assert.equal(answer([[[]]], {}), 'UNAUTHENTICATED');
    assert.equal(answer([[[]]], { sub: null }), 'ALLOWED');
    assert.equal(answer(READ, {}), 'UNAUTHENTICATED');
    assert.equal(answer(READ, { sub: 'ida' }), 'FORBIDDEN');
  });

  it('demands all scopes of one inner list, and every demand', () => {
    const either: ScopeSets = [['read', 'write'], ['admin']];
    const cases = [
      [[either], 'read', 'FORBIDDEN'],
      [[either], 'write read', 'ALLOWED'],
      [[either], 'admin', 'ALLOWED'],
      [[either, [['audit']]], 'admin', 'FORBIDDEN'],
      [[either, [['audit']]], 'admin audit', 'ALLOWED'],
      [[[[]], either], 'read write', 'ALLOWED'],
    ] as const;
    for (const [demands, scope, expected] of cases) assert.equal(answer(demands, { scope }), expected, scope);
  });

  it('finds scopes in scope, scp and scopes, as a string with spaces or a list', () => {
    for (const name of ['scope', 'scp', 'scopes']) {
      for (const granted of ['read', 'write read', 'read write', 'a read b', ['write', 'read']]) {
        assert.equal(answer(READ, { [name]: granted }), 'ALLOWED', `${name} ${JSON.stringify(granted)}`);
      }
    }
  });

  it('takes nothing that resembles a scope for one', () => {
    const lookalikes = ['', 'reader', 'bread', 'READ', 'read:all', 'read,write', 'read\twrite', 'write\nread', ' '];
    const others = [['read write'], [['read']], [], { read: true }, true, 1, null];
    for (const scope of [...lookalikes, ...others]) {
      assert.equal(answer(READ, { scope }), 'FORBIDDEN', JSON.stringify(scope));
    }
    assert.equal(answer(READ, { roles: 'read', Scope: 'read' }), 'FORBIDDEN');
    assert.equal(answer([[['constructor']]], { scope: {} }), 'FORBIDDEN');
  });

  it('has one name for demands that say the same', () => {
    const name = (...demands: ScopeSets[]) => new AccessRule(demands).name;
    assert.equal(name([[]]), '@authenticated');
    assert.equal(name([['b', 'a'], ['c']], [['d']]), name([['d']], [['c'], ['a', 'b']], [[]], [['d']]));
    assert.notEqual(name([['a', 'b']]), name([['a'], ['b']]));
    assert.notEqual(name([['a'], ['b']]), name([['a']], [['b']]));
  });
});
