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
    const expected = { id: B, number: Number(B), in: { of: [Number(B), 0.1], id: B } };
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
});
