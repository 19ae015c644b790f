import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import lodash from 'lodash';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';
import {
  areSameReads,
  copyReads,
  factNames,
  readKey,
  readsNothing,
  readsOfTests,
  trackReads,
} from '../../../src/graph/context/fact-reads.ts';
import type { FactTest } from '../../../src/graph/context/fact-reads.ts';
import { agrees } from '../../support/agrees.ts';
import { connectionOf, factsWith, observe, programOf } from './random-programs.ts';

/** Whether what `read` read of one connection agrees with another. */
function shares(read: (facts: ConnectionFacts) => unknown, one: object, other: object): boolean {
  const { facts, reads } = trackReads(factsWith(one));
  read(facts);
  return agrees(reads, factsWith(other));
}

const A = { tenant: 'acme', user: 1, roles: ['buyer', 'admin'], org: { name: 'Acme', size: 3 } };

describe('reads of connection facts', () => {
  it('of a leaf agree between connections with an equal leaf, whatever else differs', () => {
    const read = ({ claims }: ConnectionFacts) => claims['tenant'];
    assert.ok(shares(read, A, { tenant: 'acme' }));
    assert.ok(!shares(read, A, { tenant: 'other', user: 1 }));
    assert.ok(!shares(read, A, {}));
    assert.ok(!shares(read, {}, A));
  });

  it('of no facts agree between all connections', () => {
    const { reads } = trackReads(factsWith(A));
    assert.equal(readKey(reads, factsWith(A)), '');
    assert.ok(agrees(reads, factsWith({}, [], 'c2')));
  });

  it('of an object record its presence and none of its members', () => {
    const read = ({ claims }: ConnectionFacts) => Boolean(claims['org']);
    assert.ok(shares(read, A, { org: {} }));
    assert.ok(!shares(read, A, { org: [] }));
    assert.ok(!shares(read, A, { org: 'Acme' }));
    assert.ok(!shares(read, A, {}));
  });

  it('with "in" and hasOwn record the presence and not the value', () => {
    for (const read of [
      ({ claims }: ConnectionFacts) => 'tenant' in claims,
      ({ claims }: ConnectionFacts) => Object.hasOwn(claims, 'tenant'),
    ]) {
      assert.ok(shares(read, A, { tenant: 'other' }));
      assert.ok(!shares(read, A, {}));
      assert.ok(!shares(read, {}, A));
    }
  });

  it('with Object.keys record the keys in order and not the values', () => {
    const read = ({ claims }: ConnectionFacts) => Object.keys(claims);
    assert.ok(shares(read, { a: 1, b: 2 }, { a: 3, b: 4 }));
    assert.ok(!shares(read, { a: 1, b: 2 }, { b: 2, a: 1 }));
    assert.ok(!shares(read, { a: 1, b: 2 }, { a: 1 }));
  });

  it('with spread, entries, for-in, JSON and descriptors record the values they return', () => {
    const readers: ((facts: ConnectionFacts) => unknown)[] = [
      ({ claims }) => ({ ...claims }),
      ({ claims }) => Object.entries(claims),
      ({ claims }) => JSON.stringify(claims),
      ({ claims }) => Object.assign({}, claims),
      ({ claims: { a, ...rest } }) => ({ a, rest }),
      ({ claims }) => {
        const seen: unknown[] = [];
        for (const key in claims) seen.push(claims[key]);
        return seen;
      },
      ({ claims }) => structuredClone({ ...claims }),
      ({ claims }) => Object.getOwnPropertyDescriptor(claims, 'b')?.get?.() as unknown,
    ];
    for (const read of readers) {
      assert.ok(shares(read, { a: 1, b: 2 }, { a: 1, b: 2 }), read.toString());
      assert.ok(!shares(read, { a: 1, b: 2 }, { a: 1, b: 3 }), read.toString());
    }
  });

  it('with copies of all claims record every value, and the copies are equal and plain', () => {
    const claims = { tenant: 'a', roles: ['x', { level: 1 }], org: { name: 'n', deep: { sizes: [1, 2] } } };
    const copies: Record<string, (claims: object) => unknown> = {
      JSON: (view) => JSON.parse(JSON.stringify(view)) as unknown,
      'cloneDeep of lodash': (view) => lodash.cloneDeep(view),
      'merge of lodash': (view) => lodash.merge({}, view),
    };
    for (const [name, copy] of Object.entries(copies)) {
      const { facts, reads } = trackReads(factsWith(claims));
      const copied = copy(facts.claims) as typeof claims;
      assert.deepEqual(copied, claims, name);
      assert.deepEqual(structuredClone(copied), claims, name);
      assert.ok(agrees(reads, factsWith(claims)), name);
      for (const other of [
        { ...claims, tenant: 'b' },
        { ...claims, more: 1 },
        { ...claims, roles: ['x', { level: 2 }] },
        { ...claims, org: { name: 'n', deep: { sizes: [1, 2, 3] } } },
      ]) {
        assert.ok(!agrees(reads, factsWith(other)), `${name}: ${JSON.stringify(other)}`);
      }
    }
  });

  it('cannot be made with structuredClone, which refuses every Proxy', () => {
    const { facts } = trackReads(factsWith(A));
    assert.throws(() => structuredClone(facts.claims), { name: 'DataCloneError' });
    assert.throws(() => structuredClone({ ...facts.claims }), { name: 'DataCloneError' }, 'roles is a Proxy, too');
  });

  it('of an array record the elements that were read', () => {
    const roles = ({ claims }: ConnectionFacts) => claims['roles'] as string[];
    const isBuyer = (facts: ConnectionFacts) => roles(facts).includes('buyer');
    assert.ok(shares(isBuyer, A, { roles: ['buyer', 'guest'] }));
    assert.ok(!shares(isBuyer, A, { roles: ['guest', 'buyer'] }));
    assert.ok(!shares(isBuyer, A, { roles: ['buyer'] }), 'the length was read');
    const count = (facts: ConnectionFacts) => roles(facts).length;
    assert.ok(shares(count, A, { roles: ['x', 'y'] }));
    assert.ok(!shares(count, A, { roles: ['x'] }));
    const names = (facts: ConnectionFacts) => Object.getOwnPropertyNames(roles(facts));
    assert.ok(shares(names, A, { roles: ['x', 'y'] }));
    assert.ok(!shares(names, A, { roles: ['buyer'] }), 'the names tell the length');
    for (const read of [
      (facts: ConnectionFacts) => roles(facts).map((role) => role.length),
      (facts: ConnectionFacts) => [...roles(facts)],
      (facts: ConnectionFacts) => ([] as string[]).concat(roles(facts)),
      (facts: ConnectionFacts) => roles(facts).join(),
      (facts: ConnectionFacts) => roles(facts).at(-1),
    ]) {
      assert.ok(!shares(read, A, { roles: ['buyer', 'seller'] }), read.toString());
    }
  });

  it('of an inherited name record that the own key is absent', () => {
    const read = ({ claims }: ConnectionFacts) => typeof claims['toString'];
    assert.ok(shares(read, {}, { tenant: 'acme' }));
    assert.ok(!shares(read, {}, { toString: 'mine' }));
  });

  it('of headers, params, id and address are distinguished', () => {
    const one = factsWith({}, ['Authorization', 'Bearer a'], 'c1', { locale: 'en' });
    const other = factsWith({}, ['Authorization', 'Bearer b'], 'c2', { locale: 'de' });
    const reads: ((facts: ConnectionFacts) => unknown)[] = [
      ({ headers }) => headers['authorization'],
      ({ params }) => params['locale'],
      ({ id }) => id,
    ];
    for (const read of reads) {
      const tracked = trackReads(one);
      read(tracked.facts);
      assert.ok(!agrees(tracked.reads, other));
      assert.ok(agrees(tracked.reads, one));
    }
    const tracked = trackReads(one);
    assert.equal(tracked.facts.address, '10.0.0.1');
    assert.ok(agrees(tracked.reads, other));
  });

  it('use a view that cannot be bypassed, written to or distinguished from plain data', () => {
    const { facts } = trackReads(factsWith(A));
    assert.equal(facts.claims, facts.claims);
    assert.equal((facts.claims as typeof A).org, (facts.claims as typeof A).org);
    assert.deepEqual(JSON.parse(JSON.stringify(facts)), JSON.parse(JSON.stringify({ ...factsWith(A), ...facts })));
    assert.ok(Array.isArray(facts.claims['roles']));
    assert.deepEqual([Symbol.iterator in facts.claims, Symbol.iterator in facts.claims['roles']], [false, true]);
    assert.deepEqual({ ...facts.claims }.tenant, 'acme');
    assert.ok(!inspect(facts, { depth: 9 }).includes('acme'));
    assert.throws(() => structuredClone(facts.claims), /could not be cloned/);
    assert.throws(() => Object.assign(facts.claims, { tenant: 'x' }), TypeError);
    assert.throws(() => (facts.claims as typeof A).roles.push('root'), TypeError);
    assert.throws(() => (facts.claims as typeof A).roles.sort(), TypeError);
    assert.throws(() => Reflect.deleteProperty(facts.claims, 'tenant'), TypeError);
    assert.throws(() => Object.defineProperty(facts.claims, 'x', { value: 1 }), TypeError);
    assert.throws(() => Object.setPrototypeOf(facts.claims, null), TypeError);
    assert.throws(() => Object.freeze(facts.claims), TypeError);
  });

  it('have names, one for each value, presence and list of keys', () => {
    const { facts, reads } = trackReads(factsWith(A, [], 'c1', { locale: 'en' }));
    const { claims, params } = facts;
    const { tenant, org, roles } = claims as typeof A;
    void [tenant, 'tenant' in claims, 'user' in claims, 'locale' in params, org.name, Reflect.ownKeys(org)];
    assert.ok(!(Symbol.iterator in claims));
    assert.ok(roles.includes('admin'));
    void facts.headers;
    assert.deepEqual(factNames(copyReads(reads)).sort(), [
      'claims.org.*',
      'claims.org.name',
      'claims.roles.0',
      'claims.roles.1',
      'claims.roles.length',
      'claims.tenant',
      'claims.user',
      'headers',
      'params.locale',
    ]);
  });

  it('after an await are recorded', async () => {
    const { facts, reads } = trackReads(factsWith({ user: 1 }));
    const { claims } = facts;
    await Promise.resolve();
    assert.equal(claims['user'], 1);
    assert.ok(!agrees(reads, factsWith({ user: 2 })));
  });
});

/** Often near each other: a pair that never agrees tests nothing. */
const pairOf = fc
  .tuple(connectionOf, connectionOf, fc.constantFrom('claims', 'params', 'both', 'neither'))
  .map(([a, b, kept]): [ConnectionFacts, ConnectionFacts] => {
    const params = kept === 'params' || kept === 'both' ? a.params : b.params;
    const claims = kept === 'claims' || kept === 'both' ? a.claims : b.claims;
    return [a, factsWith(claims, Object.entries(b.headers).flat(), b.id, params)];
  });

describe('the rule of sharing', () => {
  it('holds: where the reads of a program agree, it observes the same on both connections', () => {
    let agreeing = 0;
    fc.assert(
      fc.property(pairOf, programOf, ([a, b], program) => {
        const { facts, reads } = trackReads(a);
        const seen = observe(program, facts);
        if (!agrees(reads, b)) return;
        agreeing++;
        assert.deepEqual(observe(program, trackReads(b).facts), seen);
      }),
      { numRuns: 10_000 },
    );
    assert.ok(agreeing > 1000, `only ${agreeing} pairs agreed`);
  });

  it('is the same by key: equal keys exactly where the reads agree, across executions, too', () => {
    fc.assert(
      fc.property(pairOf, connectionOf, programOf, ([a, b], c, program) => {
        const ofA = trackReads(a);
        observe(program, ofA.facts);
        assert.equal(readKey(ofA.reads, b) === readKey(ofA.reads, a), agrees(ofA.reads, b));
        const ofC = trackReads(c);
        observe(program, ofC.facts);
        if (readKey(ofA.reads, b) === readKey(ofC.reads, c)) assert.ok(agrees(ofC.reads, b));
      }),
      { numRuns: 10_000 },
    );
  });

  it('has equal keys for two executions that read the same facts, whichever execution the key is made from', () => {
    let same = 0;
    fc.assert(
      fc.property(pairOf, connectionOf, programOf, ([a, b], c, program) => {
        const ofA = trackReads(a);
        const ofB = trackReads(b);
        observe(program, ofA.facts);
        observe(program, ofB.facts);
        const reads = copyReads(ofA.reads);
        assert.equal(readKey(reads, c), readKey(ofA.reads, c));
        if (!areSameReads(reads, ofB.reads)) return;
        same++;
        assert.equal(readKey(reads, c), readKey(ofB.reads, c));
        assert.equal(readKey(reads, b) === readKey(reads, c), agrees(ofB.reads, c));
      }),
      { numRuns: 10_000 },
    );
    assert.ok(same > 1000, `only ${same} pairs read the same facts`);
  });

  it('of a test’s answer agree between connections with an equal answer, whatever else differs', () => {
    let asked = 0;
    const test: FactTest = {
      name: 'is a buyer',
      answer: ({ claims }) => (asked++, String(claims['role'] === 'buyer')),
    };
    const other: FactTest = { name: 'has a user', answer: ({ claims }) => String('user' in claims) };
    const { reads } = trackReads(factsWith({ role: 'buyer', user: 1 }));
    assert.deepEqual([reads.answer(test), reads.answer(test), asked], ['true', 'true', 1]);
    assert.ok(!readsNothing(reads));
    const copy = copyReads(reads);
    const keyOf = (claims: object) => readKey(copy, factsWith(claims));
    assert.equal(keyOf({ role: 'buyer', user: 1 }), keyOf({ role: 'buyer' }));
    assert.notEqual(keyOf({ role: 'buyer' }), keyOf({ role: 'seller' }));
    assert.equal(keyOf({ role: 'seller' }), keyOf({}));
    assert.ok(areSameReads(copy, readsOfTests([test])));
    assert.ok(!areSameReads(copy, readsOfTests([other])));
    assert.ok(!areSameReads(copy, copyReads(undefined)));
    reads.answer(other);
    assert.ok(!areSameReads(copy, reads));
    assert.equal(
      readKey(readsOfTests([other, test]), factsWith({})),
      readKey(readsOfTests([test, other]), factsWith({})),
    );
    assert.deepEqual(factNames(reads), ['is a buyer', 'has a user']);
  });

  it('holds for a copy of the reads whatever is read afterwards', () => {
    const { facts, reads } = trackReads(factsWith(A));
    void ('tenant' in facts.claims);
    const copy = copyReads(reads);
    const keyOf = (claims: object) => readKey(copy, factsWith(claims));
    void ('user' in facts.claims);
    void facts.claims['org'];
    assert.ok(!areSameReads(copy, reads));
    assert.equal(keyOf(A), keyOf({ tenant: 'acme' }));
    assert.notEqual(keyOf(A), keyOf({ user: 1 }));
  });

  it('shows plain data: a program observes the same through the view as on the facts', () => {
    fc.assert(
      fc.property(connectionOf, programOf, (a, program) => {
        const copy = { id: a.id, headers: a.headers, params: a.params, claims: a.claims, address: a.address };
        assert.deepEqual(observe(program, trackReads(a).facts), observe(program, copy));
      }),
      { numRuns: 5000 },
    );
  });
});
