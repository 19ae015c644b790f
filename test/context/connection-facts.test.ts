import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFacts, createRequest } from '../../src/context/connection-facts.ts';
import type { RequestSource } from '../../src/context/connection-facts.ts';

const source: RequestSource = { id: 'c1', rawHeaders: [], params: undefined, address: '127.0.0.1' };

describe('connection facts', () => {
  it('have lower-case header names and join repeated ones', () => {
    const rawHeaders = ['Host', 'a.example', 'X-Role', 'buyer', 'x-role', 'seller', '__proto__', 'only a header'];
    const { headers } = createRequest({ ...source, rawHeaders });
    assert.deepEqual(Object.entries(headers), [
      ['host', 'a.example'],
      ['x-role', 'buyer, seller'],
      ['__proto__', 'only a header'],
    ]);
    assert.equal(({} as { only?: string }).only, undefined);
  });

  it('parse headers once, at the first read', () => {
    const facts = createFacts(createRequest({ ...source, rawHeaders: ['A', 'b'] }), {});
    assert.equal(facts.headers, facts.headers);
    assert.ok(Object.isFrozen(facts.headers));
  });

  it('are deeply frozen copies of their sources', () => {
    const params = { session: { roles: ['buyer'] } };
    const claims = { tenant: { id: 7 }, since: new Date(0), drop: undefined };
    const facts = createFacts(createRequest({ ...source, params }), claims);
    params.session.roles.push('admin');
    claims.tenant.id = 8;
    assert.deepEqual(facts.params, { session: { roles: ['buyer'] } });
    assert.deepEqual(facts.claims, { tenant: { id: 7 }, since: '1970-01-01T00:00:00.000Z' });
    assert.throws(() => (facts.params as typeof params).session.roles.push('admin'), TypeError);
    assert.throws(() => Object.assign(facts, { id: 'other' }), TypeError);
    assert.throws(() => Object.assign(facts, { note: 'of another execution' }), TypeError);
    assert.throws(() => Object.assign(createRequest(source), { note: 'of another connection' }), TypeError);
    assert.throws(() => Object.assign(facts.claims, { tenant: 9 }), TypeError);
  });

  it('share one object for empty params and claims', () => {
    const one = createFacts(createRequest(source), {});
    const two = createFacts(createRequest({ ...source, params: null }), {});
    assert.equal(one.params, two.claims);
  });

  it('keep a key named __proto__ as data', () => {
    const params: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}');
    const request = createRequest({ ...source, params });
    assert.deepEqual(Object.keys(request.params), ['__proto__']);
    assert.equal(request.params['isAdmin'], undefined);
  });

  it('refuse params and claims that are not an object of plain data, and name the mistake', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 32; i++) deep = { deep };
    assert.deepEqual(createRequest({ ...source, params: deep }).params, deep);
    deep = { deep };
    assert.throws(
      () => createRequest({ ...source, params: deep }),
      /connection_init payload: nested deeper than 32 levels/,
    );
    assert.throws(
      () => createRequest({ ...source, params: [] }),
      /connection_init payload: expected an object .* got an array/,
    );
    assert.throws(() => createFacts(createRequest(source), 'admin'), /claims: expected an object .* got a string/);
    assert.throws(() => createFacts(createRequest(source), undefined), /claims: expected an object .* got nothing/);
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    assert.throws(() => createFacts(createRequest(source), cycle), /claims: nested deeper/);
  });
});
