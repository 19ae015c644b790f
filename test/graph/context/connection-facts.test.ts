import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFacts, createRequest, weightOfFacts } from '../../../src/graph/context/connection-facts.ts';
import type { RequestSource } from '../../../src/graph/context/connection-facts.ts';
import { collectGarbage } from '../../../src/ops/memory/collect-garbage.ts';

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

  it('have the first Authorization header alone, which is the one that is verified', () => {
    const rawHeaders = ['authorization', 'Bearer a', 'x', '1', 'Authorization', 'Bearer b'];
    assert.deepEqual(createRequest({ ...source, rawHeaders }).headers, { authorization: 'Bearer a', x: '1' });
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

  it('keep headers and params that nobody has read as text: 63 KB of params take no more than twice as much', async () => {
    const params: unknown = JSON.parse(`[${Array(15_000).fill('{}').join()}]`.replace(/^/, '{"list":') + '}');
    const grow = async (count: number, isRead: boolean) => {
      await collectGarbage();
      const before = process.memoryUsage().heapUsed;
      const kept = Array.from({ length: count }, () => createFacts(createRequest({ ...source, params }), {}));
      if (isRead) for (const facts of kept) assert.ok(facts.params['list']);
      await collectGarbage();
      const bytes = (process.memoryUsage().heapUsed - before) / count;
      assert.ok(Math.abs(weightOfFacts(kept[0]!) / bytes - 1) < 0.5, `${weightOfFacts(kept[0]!)} of ${bytes}`);
      return bytes;
    };
    const text = Buffer.byteLength(JSON.stringify(params));
    assert.ok((await grow(20, false)) < 2 * text);
    assert.ok((await grow(20, true)) > 10 * text, 'as objects they take more');
  });

  it('keep as text what authenticate has read before', () => {
    const params = { list: Array<object>(1000).fill({}) };
    const request = createRequest({ ...source, rawHeaders: ['A', 'b'], params });
    assert.deepEqual([request.params, request.headers], [params, { a: 'b' }]);
    const facts = createFacts(request, request.claims);
    assert.ok(weightOfFacts(facts) < weightOfFacts(request) / 5);
    assert.deepEqual([facts.params, facts.headers], [params, { a: 'b' }]);
  });

  it('may keep other headers and params than authenticate receives', () => {
    const request = createRequest(
      { ...source, rawHeaders: ['A', 'b'], params: { token: 't', other: 1 } },
      { sub: 'ida' },
    );
    const facts = createFacts(request, request.claims, { rawHeaders: [], params: { other: 1 } });
    assert.deepEqual([facts.headers, facts.params], [{}, { other: 1 }]);
    assert.equal(facts.claims, request.claims, 'the same object');
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
