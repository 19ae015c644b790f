import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Socket } from '../../support/socket.ts';
import { startNumbers, tokenOf } from './number-stage.ts';

/** Two integers that a double cannot tell apart. */
const A = '9007199254740992';
const B = '9007199254740993';
const record = (number: string, name: string) => `{"id":${number},"tenant":${number},"name":"${name}","n":${number}}`;

/** The names of the rows that a socket received, by operation. */
async function received(socket: Socket): Promise<unknown[]> {
  const messages = await socket.roundTrip();
  return messages.map(({ type, payload }) => {
    assert.equal(type, 'next', JSON.stringify(payload));
    return Object.values((payload as { data: Record<string, unknown> }).data)[0];
  });
}

describe('numbers whose digits a double loses', () => {
  const ROW = '{ id name }';
  for (const [title, query, variables] of [
    ['a literal', (id: string) => `subscription { row(id: ${id}) ${ROW} }`, () => '{}'],
    ['a text', () => `subscription ($id: ID) { row(id: $id) ${ROW} }`, (id: string) => `{"id":"${id}"}`],
    ['a number', () => `subscription ($id: ID) { row(id: $id) ${ROW} }`, (id: string) => `{"id":${id}}`],
    ['EQ', () => `subscription ($id: ID) { equal(id: $id) ${ROW} }`, (id: string) => `{"id":${id}}`],
    ['IN', () => `subscription ($ids: [ID!]) { among(ids: $ids) ${ROW} }`, (id: string) => `{"ids":[${id}]}`],
  ] as const) {
    it(`choose their own records, by ${title}`, async (t) => {
      const { open, subscribe, publish } = await startNumbers(t);
      const [one, other] = [await open('1'), await open('1')];
      await subscribe(one, query(A), variables(A));
      await subscribe(other, query(B), variables(B));
      await publish(record(A, 'a'));
      await publish(record(B, 'b'));
      assert.deepEqual(await received(one), [{ id: A, name: 'a' }]);
      assert.deepEqual(await received(other), [{ id: B, name: 'b' }]);
    });
  }

  for (const [title, claim] of [
    ['a text', (tenant: string) => `"${tenant}"`],
    ['a number', (tenant: string) => tenant],
  ] as const) {
    it(`give a tenant its own records only, where the claim is ${title}`, async (t) => {
      const { open, subscribe, publish } = await startNumbers(t);
      const [one, other] = [await open(claim(A)), await open(claim(B))];
      const owned = 'subscription { owned { owner_only } }';
      for (const socket of [one, other]) {
        await subscribe(socket, `subscription { mine ${ROW} }`);
        await subscribe(socket, owned);
      }
      await publish(record(A, 'a'));
      await publish(record(B, 'b'));
      const sorted = async (socket: Socket) => (await received(socket)).map((row) => JSON.stringify(row)).sort();
      assert.deepEqual(await sorted(one), [`{"id":"${A}","name":"a"}`, '{"owner_only":"a"}', '{"owner_only":null}']);
      assert.deepEqual(await sorted(other), [`{"id":"${B}","name":"b"}`, '{"owner_only":"b"}', '{"owner_only":null}']);
    });
  }

  it('keep a state each', async (t) => {
    const { open, subscribe, publish } = await startNumbers(t);
    await publish(record(A, 'a'), 'a');
    await publish(record(B, 'b'), 'b');
    const [one, other] = [await open('1'), await open('1')];
    await subscribe(one, `subscription { kept(id: ${A}) ${ROW} }`);
    await subscribe(other, `subscription { kept(id: ${B}) ${ROW} }`);
    assert.deepEqual([await received(one), await received(other)], [[{ id: A, name: 'a' }], [{ id: B, name: 'b' }]]);
  });

  it('are compared with all digits, and are numbers for a Float', async (t) => {
    const { open, subscribe, publish } = await startNumbers(t);
    const socket = await open('1');
    await subscribe(socket, 'subscription { above(n: 100) { name n } }');
    await publish(record('99.999999999999999999', 'less'));
    await publish(record('100.00000000000000000001', 'more'));
    assert.deepEqual(await received(socket), [{ name: 'more', n: 100 }]);
  });

  it('reach resolvers with all digits for an ID, and as numbers for a Float', async (t) => {
    const { url } = await startNumbers(t);
    const query = 'query ($id: ID, $number: Float, $in: Numbers) { echo(id: $id, number: $number, in: $in) }';
    const variables = `{"id":${B},"number":${B},"in":{"of":[${B},0.1],"id":${B}}}`;
    const expected = { big: '0', id: B, number: Number(B), in: { of: [Number(B), 0.1], id: B } };
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('1')}` };
    const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
    const posted = await fetch(url, { method: 'POST', headers, body });
    const got = await fetch(`${url}?${new URLSearchParams({ query, variables }).toString()}`, { headers });
    for (const reply of [posted, got]) {
      const { data, errors } = (await reply.json()) as { data: { echo: string }; errors?: unknown };
      assert.equal(errors, undefined);
      assert.deepEqual(JSON.parse(data.echo), expected);
    }
  });

  for (const [field, isText] of [
    ['big', true],
    ['long', true],
    ['any', false],
    ['aboveBig', true],
  ] as const) {
    const type = { big: 'BigInt', long: 'Long', any: 'Any', aboveBig: 'BigInt' }[field];
    const next = (number: string) => (field === 'aboveBig' ? String(BigInt(number) - 1n) : number);
    for (const [title, query, variables] of [
      ['a literal', (n: string) => `subscription { ${field}(n: ${n}) { id text big } }`, () => '{}'],
      ['a text', () => `subscription ($n: ${type}) { ${field}(n: $n) { id text big } }`, (n: string) => `{"n":"${n}"}`],
      ['a number', () => `subscription ($n: ${type}) { ${field}(n: $n) { id text big } }`, (n: string) => `{"n":${n}}`],
    ] as const) {
      it(`are ${type} for "${field}", by ${title}, with all digits`, async (t) => {
        const { open, subscribe, publish } = await startNumbers(t);
        const numbers = isText ? [A, B] : [B, '9007199254740995'];
        const sockets = await Promise.all(numbers.map(() => open('1')));
        for (const [i, socket] of sockets.entries())
          await subscribe(socket, query(next(numbers[i]!)), variables(next(numbers[i]!)));
        for (const n of numbers) await publish(`{"id":${n},"text":${n},"big":${n}}`);
        const rows = numbers.map((n) => ({ id: n, text: n, big: n }));
        for (const [i, socket] of sockets.entries())
          assert.deepEqual(await received(socket), field === 'aboveBig' ? rows.slice(i) : [rows[i]]);
      });
    }
  }

  it('choose keys of records, plain channels and states', async (t) => {
    const { open, subscribe, publish, url } = await startNumbers(t);
    await publish(record(A, 'a'), A);
    await publish(record(B, 'b'), B);
    const [one, other] = [await open('1'), await open('1')];
    for (const [socket, n] of [
      [one, A],
      [other, B],
    ] as const) {
      await subscribe(socket, `subscription { said(n: ${n}) { n } }`);
      await subscribe(socket, `subscription { byKey(key: ${n}) { name } }`);
      await subscribe(socket, `subscription { keptBig(n: ${n}) { name } }`);
    }
    const ask = async (query: string, variables = '{}') => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('1')}` };
      const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
      return (await fetch(url, { method: 'POST', headers, body })).json();
    };
    for (const [n, name] of [
      [A, 'a'],
      [B, 'b'],
    ] as const) {
      const query = 'query ($n: BigInt!, $id: ID!) { bigNow(n: $n) { name } now(id: $id) { id } }';
      assert.deepEqual(await ask(query, `{"n":${n},"id":${n}}`), { data: { bigNow: { name }, now: { id: n } } });
      await ask('mutation ($n: BigInt!) { say(n: $n) }', `{"n":${n}}`);
    }
    await publish(record(B, 'c'), B);
    const sorted = async (socket: Socket) => (await received(socket)).map((row) => JSON.stringify(row)).sort();
    assert.deepEqual(await sorted(one), [`{"n":"${A}"}`, '{"name":"a"}']);
    assert.deepEqual(await sorted(other), [`{"n":"${B}"}`, '{"name":"b"}', '{"name":"c"}', '{"name":"c"}']);
  });

  it('reach resolvers as text for a BigInt, a Long and any other scalar, and leave them so', async (t) => {
    const { url } = await startNumbers(t);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${tokenOf('1')}` };
    const ask = async (query: string, variables = '{}') => {
      const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
      return (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
        data?: { echo?: string; own?: unknown };
        errors?: { message: string }[];
      };
    };
    const literal = await ask(`{ echo(long: ${B}, any: { a: [${B}] }) }`);
    assert.deepEqual(JSON.parse(literal.data!.echo!), { big: '0', long: B, any: { a: [B] } });
    // Twice: compiled code executes the second one.
    for (let i = 0; i < 2; i++) {
      const own = await ask('query ($n: BigInt) { own(n: $n, of: [7, -0]) { n of } }', `{"n":${B}}`);
      assert.deepEqual(own, { data: { own: { n: B, of: ['7', '0'] } } });
    }
    const refused = await ask('query ($n: BigInt) { own(n: $n) { n } }', '{"n":1.5}');
    assert.match(refused.errors![0]!.message, /\$n.*BigInt cannot represent "1\.5": expected an integer/);
  });

  it('give each of 16 tenants its own records only', async (t) => {
    const { open, subscribe, publish } = await startNumbers(t);
    const tenants = Array.from({ length: 16 }, (_, i) => String(2n ** 53n + BigInt(i)));
    const sockets: Socket[] = [];
    for (const [i, tenant] of tenants.entries()) {
      const socket = await open(i % 2 === 0 ? tenant : `"${tenant}"`);
      sockets.push(socket);
      await subscribe(socket, `subscription { mine ${ROW} }`);
      await subscribe(socket, `subscription { own(id: ${tenants[15 - i]!}) ${ROW} }`);
      await subscribe(socket, `subscription { big(n: ${tenant}) ${ROW} }`);
    }
    // Each tenant has a record of each id.
    for (const tenant of tenants)
      for (const id of tenants) await publish(`{"id":${id},"tenant":${tenant},"name":"${tenant}"}`, `${tenant} ${id}`);
    for (const [i, tenant] of tenants.entries()) {
      const rows = (await received(sockets[i]!)) as { id: string; name: string }[];
      const isOwn = ({ id, name }: { id: string; name: string }) => name === tenant || id === tenant;
      assert.deepEqual(
        rows.filter((row) => !isOwn(row)),
        [],
      );
      // Its 16 records, its own of one id, and all tenants' records of the other.
      assert.equal(rows.length, 16 + 1 + 16);
    }
  });
});
