import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import type { CheckedRecord } from '../../../src/graph/record-check/key-check.ts';
import type { Unread } from '../../../src/graph/record-check/described.ts';
import { checkRecords } from '../../../src/graph/record-check/record-check.ts';
import type { RecordMisfit } from '../../../src/graph/record-check/record-check.ts';
import { graphFolder } from '../support/graph-folder.ts';

const TYPES = `
  type Order { id: ID! state: State total: Float note: String lines: [Line!] buyer: Party }
  type Line { sku: String! }
  enum State { OPEN CLOSED }
  interface Party { name: String }
  type Person implements Party { name: String }
  type Firm implements Party { name: String }`;

const FITTING = {
  id: 'o-1',
  state: 'OPEN',
  total: 1.5,
  note: 'n',
  lines: [{ sku: 's' }],
  buyer: { __typename: 'Firm', name: 'f' },
};

const BY_ID =
  'order_updated(id: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "order.id" }], payload: "order")';

/** What is said of these payloads, in order: the problems by field. */
async function found(
  t: TestContext,
  fields: string,
  payloads: readonly unknown[],
  resolvers?: string,
  key: Buffer | null | Pick<CheckedRecord, 'key' | 'keyValue' | 'keyProblem' | 'keyFix' | 'headers'> = null,
  unread?: Unread,
) {
  const files = {
    'schema.graphql': `${TYPES} type Subscription { ${fields} }`,
    ...(resolvers === undefined ? {} : { 'resolvers.ts': resolvers }),
  };
  const graph = await loadGraph(await graphFolder(t, files));
  const records = payloads.map((payload, i) => {
    const keyed = key === null || Buffer.isBuffer(key) ? { key } : key;
    return { partition: 0, offset: String(i), ...keyed, payload: payload as Record<string, unknown> };
  });
  return texts(checkRecords(graph, 'orders', records, 'what the producer writes', { unread }));
}

/** Problems as texts, beside those that leave the field without a value. */
function texts(misfits: readonly RecordMisfit[]) {
  return misfits.map(({ problems, ...misfit }) => ({
    ...misfit,
    problems: problems.map(({ text }) => text),
    blocking: problems.flatMap(({ text, isBlocking }) => (isBlocking ? [text] : [])),
  }));
}

/** The one problem of the newest of these payloads. */
async function problem(t: TestContext, fields: string, ...payloads: unknown[]): Promise<string> {
  const misfits = await found(t, fields, payloads);
  assert.deepEqual(
    misfits.map(({ field, isCertain }) => [field, isCertain]),
    [['Subscription.order_updated', true]],
  );
  assert.equal(misfits[0]!.problems.length, 1, misfits[0]!.problems.join('\n'));
  return misfits[0]!.problems[0]!;
}

const order = (more: object) => ({ order: { ...FITTING, ...more } });

describe('checkRecords', () => {
  it('says nothing of records that fit, nor without records', async (t) => {
    assert.deepEqual(await found(t, BY_ID, [order({})]), []);
    assert.deepEqual(await found(t, BY_ID, []), []);
  });

  it('names a payload that is a JSON text inside a string', async (t) => {
    const all = 'order_updated: Order @kafka(topic: "orders", payload: "order")';
    assert.equal(
      await problem(t, all, { order: JSON.stringify(FITTING) }),
      'Subscription.order_updated: the record has a JSON text inside a string at "order", and the field is an object (Order); correct what the producer writes, or give it a resolver',
    );
  });

  it('names a path of match that the record does not have, its keys, and the nearest one', async (t) => {
    const fields = BY_ID.replace('path: "order.id"', 'path: "head.order_id"');
    assert.equal(
      await problem(t, fields, { ...order({}), head: { orderid: 1, other: 2 } }),
      'match of "id": the record has no "order_id" at "head", where its keys are orderid, other; did you mean "orderid"? ' +
        'No subscription receives it; correct the path in @kafka, or what the producer writes',
    );
    assert.match(
      await problem(t, fields, { ...order({}), head: 1 }),
      /the record has a number at "head", which has no "order_id"/,
    );
    assert.match(
      await problem(t, fields, { ...order({}), head: { order_id: { a: 1 } } }),
      /has an object with the keys a at "head\.order_id"/,
    );
  });

  it('names a value that no argument of the type can equal, as channels compare them', async (t) => {
    const field = (type: string) => BY_ID.replace('id: ID!', `id: ${type}!`).replace('"order.id"', '"head.id"');
    const record = (id: unknown) => ({ ...order({}), head: { id } });
    assert.match(
      await problem(t, field('Int'), record('o-1')),
      /^match of "id": the record has a string at "head\.id", which is no Int, .*; give the argument the type ID or String/,
    );
    for (const id of [2 ** 31, 1.5, '07', true]) await problem(t, field('Int'), record(id));
    for (const id of ['7', 7, -(2 ** 31)]) assert.deepEqual(await found(t, field('Int'), [record(id)]), [], String(id));
    await problem(t, field('Boolean'), record(1));
    assert.deepEqual(await found(t, field('ID'), [record(7)]), []);
    assert.match(
      await problem(t, field('State'), record('OPN')),
      /has "OPN" at "head\.id", which is no State; did you mean "OPEN"\?.*add it to the enum State/,
    );
  });

  it('names a path of payload, of a claim and of a filter that the record does not have', async (t) => {
    assert.match(
      await problem(t, 'order_updated: Order @kafka(topic: "orders", payload: "ordr")', order({})),
      /^payload: the record has no "ordr" at the top, where its keys are order; did you mean "order"\? The field would be null/,
    );
    assert.match(
      await problem(
        t,
        BY_ID.replace(', payload', ', where: [{ claim: "tenant", path: "tenant" }], payload'),
        order({}),
      ),
      /^where of the claim "tenant": the record has no "tenant" at the top/,
    );
    assert.match(
      await problem(
        t,
        'order_updated(min: Float): Order @kafka(topic: "orders", where: [{ arg: "min", path: "sum", op: GTE }], payload: "order")',
        order({}),
      ),
      /^where of "min": the record has no "sum" .*No subscription with this argument receives it/,
    );
  });

  it('names values that their types cannot represent, and no other value than that of an enum', async (t) => {
    assert.match(
      await problem(t, BY_ID, order({ state: 'CLOSD' })),
      /^Order\.state: the record has "CLOSD" at "order\.state", which is not in the enum State \(OPEN, CLOSED\); add it there, .*; did you mean "CLOSED"\?$/,
    );
    assert.match(await problem(t, BY_ID, order({ state: 'x'.repeat(100) })), /has "x{40}…" at/);
    for (const [more, expected] of [
      [
        { total: 'secret' },
        /^Order\.total: the record has a string at "order\.total", which does not fit the type Float/,
      ],
      [
        { note: { secret: 1 } },
        /^Order\.note: the record has an object at "order\.note", which does not fit the type String/,
      ],
      [{ lines: { secret: 1 } }, /^Order\.lines: the record has an object at "order\.lines", and the field is a list/],
      [
        { lines: [null] },
        /^Order\.lines: the record has null at "order\.lines", which Line! does not allow; make the field nullable \(Line\)/,
      ],
      [
        { buyer: 'secret' },
        /^Order\.buyer: the record has a string at "order\.buyer", and the field is an object \(Party\)/,
      ],
      [
        { buyer: { name: 'secret' } },
        /^Order\.buyer: the record has no __typename at "order\.buyer", .*Person, Firm.*export const Party = \{ __resolveType/,
      ],
    ] as const) {
      const text = await problem(t, BY_ID, order(more));
      assert.match(text, expected);
      assert.doesNotMatch(text, /secret/);
    }
  });

  it('names a required field that no record has, and a nullable one only with a key that resembles it', async (t) => {
    const { id, ...withoutId } = FITTING;
    const fields = BY_ID.replace('"order.id"', '"key"');
    const record = { key: id, order: withoutId };
    assert.match(
      await problem(t, fields, record),
      /^Order\.id: the record has no "id" at "order", where its keys are state, .*, and ID! does not allow null; rename the field, make it nullable/,
    );
    assert.deepEqual(await found(t, fields, [record, { key: id, order: FITTING }]), []);
    const { note, ...withoutNote } = FITTING;
    assert.match(
      await problem(t, BY_ID, { order: { ...withoutNote, notes: note } }),
      /Order\.note.*did you mean "notes"\?, and the field is null/,
    );
    const [optional] = await found(t, BY_ID, [{ order: withoutNote }]);
    assert.equal(optional?.isCertain, false);
    assert.match(optional.problems.join(), /^Order\.note: /);
  });

  it('leaves fields with a resolver, and types with __resolveType, to the graph', async (t) => {
    const resolvers = `export const Order = { total: () => 1 }; export const Party = { __resolveType: () => 'Firm' };`;
    assert.deepEqual(await found(t, BY_ID, [order({ total: 'x', buyer: {} })], resolvers), []);
    const root = `export const Subscription = { order_updated: { resolve: () => null } };`;
    assert.deepEqual(await found(t, BY_ID, [order({ state: 'x' })], root), []);
  });

  it('is not certain of a field whose topic has records that another field takes', async (t) => {
    const line =
      'line_added(sku: String!): Line @kafka(topic: "orders", match: [{ arg: "sku", path: "line.sku" }], payload: "line")';
    const misfits = await found(t, `${BY_ID} ${line}`, [order({})]);
    assert.deepEqual(
      misfits.map(({ field, isCertain }) => [field, isCertain]),
      [['Subscription.line_added', false]],
    );
    const lost = await found(t, `${BY_ID} ${line}`, [order({}), { lne: { sku: 's' } }]);
    assert.deepEqual(
      lost.map(({ field, isCertain }) => [field, isCertain]),
      [['Subscription.line_added', true]],
    );
  });

  it('names the newest record, and matches by the key of records', async (t) => {
    const fields = BY_ID.replace('path: "order.id"', 'key: true');
    const [misfit] = await found(t, fields, [order({}), order({})]);
    assert.equal(misfit?.offset, '1');
    assert.match(misfit.problems[0]!, /^match of "id": the record has no key\. No subscription/);
    const [unread] = await found(t, fields, [order({})], undefined, Buffer.from([0, 0, 0, 0, 1, 0x0e]));
    assert.match(unread!.problems[0]!, /^match of "id": the record has a binary key\. No subscription/);
  });

  it('names key: true on keys that are JSON objects or quoted JSON texts, with what to write instead', async (t) => {
    const fields = BY_ID.replace('path: "order.id"', 'key: true');
    const said = async (key: Parameters<typeof found>[4]) => {
      const misfits = await found(t, fields, [order({})], undefined, key);
      assert.ok(misfits.every(({ isCertain }) => isCertain));
      return misfits.flatMap(({ problems }) => problems).join('\n');
    };
    assert.equal(
      await said({ key: Buffer.from('{"id":7}'), keyValue: { id: 7 } }),
      'match of "id": key: true compares the whole key, which is a struct of "id"; write a match on its members: key: "id"',
    );
    assert.match(await said({ key: Buffer.from('{"a":1,"b":2}'), keyValue: { a: 1, b: 2 } }), /: key: "a", key: "b"$/);
    assert.match(
      await said({ key: Buffer.from('"o-1"'), keyValue: 'o-1' }),
      /^match of "id": key: true compares the key with the quotes .*StringConverter/,
    );
    // Of a key with a schema the text is that of the value.
    assert.equal(await said({ key: Buffer.from('o-1'), keyValue: 'o-1' }), '');
    assert.equal(await said(Buffer.from('o-1')), '');
  });

  it('names what the key is where a match on a path of it, or a tombstone, finds no value', async (t) => {
    const struct = { key: Buffer.from('{"tenant":"a","no":7}'), keyValue: { tenant: 'a', no: 7 } };
    const ofKey = (fields: string, key: Parameters<typeof found>[4]) => found(t, fields, [order({})], undefined, key);
    const byMember = (path: string) => BY_ID.replace('path: "order.id"', `key: "${path}"`);
    assert.deepEqual(await ofKey(byMember('tenant'), struct), []);
    const [absent] = await ofKey(byMember('id'), struct);
    assert.match(
      absent!.problems[0]!,
      /^match of "id": the record has a key that is a struct of "tenant", "no", without a value at "id"\. No subscription/,
    );
    const [misfit] = await ofKey(byMember('tenant').replace('id: ID!', 'id: Int!'), struct);
    assert.match(misfit!.problems[0]!, /the record has a string in "tenant" of the record's key, which is no Int/);
    const withoutRegistry = { key: Buffer.from([0, 0, 0, 0, 1, 0x0e]), keyProblem: 'needs_registry' };
    const [framed] = await ofKey(byMember('id'), withoutRegistry);
    assert.match(framed!.problems[0]!, /a key with a schema, and no registry for it is set, without a value at "id"/);

    const deleted = BY_ID.replace(/\)$/, ', tombstone: NULL)');
    const { id } = FITTING;
    assert.deepEqual(await ofKey(deleted, Buffer.from(id)), []);
    assert.deepEqual(await ofKey(deleted, { key: Buffer.from(''), keyValue: { id } }), []);
    const [other] = await ofKey(deleted, struct);
    assert.match(
      other!.problems[0]!,
      /^tombstone: the record has a key that is a struct of "tenant", "no", which is not its value at "order\.id", so a tombstone/,
    );
    assert.deepEqual(await ofKey(deleted.replace('NULL', 'NULL, state: {}'), struct), []);
  });

  describe('problems that leave a field without a value', () => {
    const blocking = async (
      t: TestContext,
      fields: string,
      payloads: readonly unknown[],
      key?: Parameters<typeof found>[4],
    ) => (await found(t, fields, payloads, undefined, key)).map(({ field, blocking: texts }) => [field, texts.length]);
    const BY_NOTE = BY_ID.replace('"order.id"', '"nota"');
    const one = (count: number) => [['Subscription.order_updated', count]];

    it('are a required match, a claim and a payload that no record has, and values that no argument equals', async (t) => {
      assert.deepEqual(await blocking(t, BY_NOTE, [order({}), order({})]), one(1));
      assert.deepEqual(await blocking(t, BY_ID.replace('path: "order.id"', 'key: true'), [order({})]), one(1));
      const claim = BY_ID.replace(', payload', ', where: [{ claim: "tenant", path: "tenant" }], payload');
      assert.deepEqual(await blocking(t, claim, [order({})]), one(1));
      const numbered = BY_ID.replace('id: ID!', 'id: Int!');
      assert.deepEqual(await blocking(t, numbered, [order({})]), one(1));
      assert.deepEqual(await blocking(t, numbered, [order({}), order({ id: 7 })]), []);
      assert.deepEqual(await blocking(t, BY_ID.replace('payload: "order"', 'payload: "ordr"'), [order({})]), one(1));
    });

    it('are not an argument that may be left out, values of an enum, nor a null that one record has', async (t) => {
      assert.deepEqual(await blocking(t, BY_NOTE.replace('id: ID!', 'id: ID'), [order({})]), one(0));
      const byState = BY_ID.replace('id: ID!', 'id: State!').replace('order.id', 'order.note');
      assert.deepEqual(await blocking(t, byState, [order({})]), one(0));
      assert.deepEqual(await blocking(t, BY_ID, [order({ lines: [null] }), order({})]), one(0));
      assert.deepEqual(await blocking(t, BY_ID, [order({ total: 'x' })]), one(0));
    });

    it('are not a match, a claim or a payload that is null in each record: others may have values', async (t) => {
      const byReply = BY_ID.replace('order.id', 'order.note');
      assert.deepEqual(await blocking(t, byReply, [order({ note: null })]), one(0));
      assert.deepEqual(await blocking(t, byReply, [{ order: null }]), one(0));
      const claim = BY_ID.replace(', payload', ', where: [{ claim: "tenant", path: "tenant" }], payload');
      assert.deepEqual(await blocking(t, claim, [{ ...order({}), tenant: null }]), one(0));
      const both = BY_ID.replace('id: ID!', 'id: ID!, no: ID!').replace(' }]', ' }, { arg: "no", path: "no" }]');
      const apart = [
        { ...order({ id: null }), no: 1 },
        { ...order({}), no: null },
      ];
      assert.deepEqual(await blocking(t, both, apart), one(0));
    });

    it('are values that make the whole of each record null, through the types around them', async (t) => {
      const box = 'order_updated: Box @kafka(topic: "orders") } type Box { order: Order! } type Rest { a: Int';
      const nulls = [{ order: { ...FITTING, id: null } }, { order: 7 }];
      const [misfit] = await found(t, box, nulls);
      assert.deepEqual(
        misfit!.blocking.map((text) => text.split(':')[0]),
        ['Order.id', 'Box.order'],
      );
      assert.deepEqual(await blocking(t, box, [...nulls, order({})]), one(0));
      assert.deepEqual(await blocking(t, box, [order({ lines: {} })]), one(0));
    });

    it('are none of a field whose topic has records of another one, unless both read the same of them', async (t) => {
      const line =
        'line_added(sku: String!): Line @kafka(topic: "orders", match: [{ arg: "sku", path: "line.sku" }], payload: "line")';
      assert.deepEqual(await blocking(t, `${BY_ID} ${line}`, [order({}), { lne: { sku: 's' } }]), [
        ['Subscription.line_added', 0],
      ]);
      const other = BY_NOTE.replace('order_updated', 'order_noted');
      assert.deepEqual(await blocking(t, `${BY_ID} ${other}`, [order({})]), [['Subscription.order_noted', 1]]);
    });

    it('are required matches that no record has together', async (t) => {
      const both =
        'order_updated(id: ID!, no: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }, { arg: "no", path: "no" }], payload: "order")';
      const [misfit] = await found(t, both, [
        { ...order({}), id: 1 },
        { ...order({}), no: 1 },
      ]);
      assert.deepEqual(misfit?.blocking, [
        'match of "id" and match of "no": no record has a value for each of them. No subscription receives it; correct the paths in @kafka, or what the producer writes',
      ]);
    });
  });

  describe('of a topic with records that were not read', () => {
    const UNREAD = { read: 2, total: 1204, mayReadMore: true };
    const HINT =
      '; 2 of about 1204 records were read, and the others may be what the field reads: crier check --records 1204 reads more';
    const PAYLOADS = [
      { ...order({}), orders: 7 },
      { ...order({}), head: { id: 1 } },
    ];

    /** Of the one field with problems, which of them block it and which are left open. */
    const tell = async (
      t: TestContext,
      fields: string,
      { payloads = PAYLOADS, key, unread = UNREAD }: Partial<Told> = {},
    ) => {
      const [misfit, ...others] = await found(t, fields, payloads, undefined, key, unread);
      assert.deepEqual(others, []);
      const { problems = [], blocking = [] } = misfit ?? {};
      const open = problems.filter((text) => text.includes('records were read'));
      return { blocking: blocking.map(labelOf), open: open.map(labelOf), problems };
    };
    interface Told {
      readonly payloads: readonly unknown[];
      readonly key: Parameters<typeof found>[4];
      readonly unread: Unread;
    }
    const labelOf = (text: string) => text.split(':')[0]!;
    const byPath = (path: string) => BY_ID.replace('order.id', path);
    const byPart = (part: string) => BY_ID.replace('path: "order.id"', part);
    const CLAIM = BY_ID.replace(', payload', ', where: [{ claim: "tenant", path: "tenant" }], payload');

    it('leaves a match, a claim and a payload open that these records may only happen not to have', async (t) => {
      const open = async (fields: string, label: string, more?: Partial<Told>) => {
        const told = await tell(t, fields, more);
        assert.deepEqual([told.blocking, told.open], [[], [label]], fields);
        assert.ok(told.problems[0]!.endsWith(HINT), told.problems[0]);
      };
      await open(byPath('coupon.code'), 'match of "id"');
      await open(CLAIM, 'where of the claim "tenant"');
      await open(BY_ID.replace('payload: "order"', 'payload: "refund"'), 'payload');
      await open(byPart('key: true'), 'match of "id"');
      await open(byPart('key: "id"'), 'match of "id"');
      await open(byPart('key: "no"'), 'match of "id"', { key: { key: Buffer.from('{}'), keyValue: { tenant: 'a' } } });
      await open(byPart('header: "id"'), 'match of "id"', { key: { key: null, headers: { tenant: 'a', id: null } } });
      // The order's number is no misspelt id of the user.
      await open(byPath('order_id'), 'match of "id"', { payloads: [{ ...order({}), user_id: 7 }] });
      const both =
        'order_updated(id: ID!, no: ID!): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }, { arg: "no", path: "no" }], payload: "order")';
      await open(both, 'match of "id" and match of "no"', {
        payloads: [
          { ...order({}), id: 1 },
          { ...order({}), no: 1 },
        ],
      });
    });

    it('blocks a field whose place has a similar name in a record, which is named', async (t) => {
      const blocks = async (fields: string, expected: RegExp, more?: Partial<Told>) => {
        const told = await tell(t, fields, more);
        assert.deepEqual(told.open, []);
        assert.equal(told.blocking.length, 1, told.problems.join('\n'));
        assert.match(told.problems[0]!, expected);
      };
      await blocks(byPath('head.ids'), /: the record has no "ids" at "head", .*did you mean "id"\?/);
      await blocks(
        byPath('ordrs'),
        /: an older record \(partition 0, offset 0\) has no "ordrs" .*did you mean "orders"\?/,
      );
      await blocks(
        BY_ID.replace('payload: "order"', 'payload: "ordr"'),
        /^payload: the record .* did you mean "order"\?/,
      );
      await blocks(byPart('key: "tenent"'), /without a value at "tenent"; did you mean "tenant"\?/, {
        key: { key: Buffer.from('{}'), keyValue: { tenant: 'a' } },
      });
      await blocks(byPart('header: "tenant-id"'), /no header "tenant-id" .*; did you mean "Tenant_ID"\?/, {
        key: { key: null, headers: { Tenant_ID: 'a' } },
      });
    });

    it('blocks a field whose values or keys cannot be compared', async (t) => {
      assert.deepEqual((await tell(t, byPath('head'))).blocking, ['match of "id"']);
      assert.deepEqual((await tell(t, BY_ID.replace('id: ID!', 'id: Int!'))).blocking, ['match of "id"']);
      const key = Buffer.from([0, 0, 0, 0, 1, 0x0e]);
      assert.deepEqual((await tell(t, byPart('key: true'), { key })).blocking, ['match of "id"']);
      assert.deepEqual((await tell(t, byPart('key: "id"'), { key: Buffer.from('7') })).blocking, ['match of "id"']);
      const header = { key: null, headers: { id: Buffer.from([0xff]) } };
      assert.deepEqual((await tell(t, byPart('header: "id"'), { key: header })).blocking, ['match of "id"']);
    });

    it('takes values of records for which the field is not meant for no evidence', async (t) => {
      const fields = byPath('coupon').replace('): Order @', '): Order! @');
      const told = await tell(t, fields, { payloads: [{ order: { id: null } }] });
      assert.deepEqual([told.blocking, told.open], [[], ['match of "id"', 'Order.id']]);
      assert.deepEqual((await tell(t, BY_ID, { payloads: [{ order: { id: 7 } }, { order: 7 }] })).blocking, []);
      const nulls = await tell(t, fields.replace('coupon', 'id'), { payloads: [{ id: 7, order: { id: null } }] });
      assert.deepEqual([nulls.blocking, nulls.open], [['Order.id'], []]);
    });

    it('names no command where so many records were to be read', async (t) => {
      const { problems } = await tell(t, byPath('coupon'), { unread: { ...UNREAD, mayReadMore: false } });
      assert.match(problems[0]!, /; 2 of about 1204 records were read, and the others may be what the field reads$/);
    });
  });

  it('names once what fields of one type have in common', async (t) => {
    const misfits = await found(t, `${BY_ID} all: Order @kafka(topic: "orders", payload: "order")`, [
      order({ total: 'x' }),
    ]);
    assert.deepEqual(
      misfits.map(({ field }) => field),
      ['Subscription.order_updated'],
    );
  });

  it('names how a key with a schema becomes readable', async (t) => {
    const key = { key: Buffer.from([0, 0, 0, 0, 1, 0x0e]), keyProblem: 'needs_registry', keyFix: 'set it' };
    const fields = BY_ID.replace('path: "order.id"', 'key: "id"');
    const [misfit] = await found(t, fields, [order({})], undefined, key);
    assert.match(misfit!.problems[0]!, /without a value at "id"\. No subscription receives it; set it$/);
  });

  it('says that subscribers are not told of tombstones, unless the field says what they do', async (t) => {
    const said = async (more: string, hasTombstones = true) => {
      const sdl = `${TYPES} type Subscription { ${BY_ID.replace(/\)$/, `${more})`)} }`;
      const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': sdl }));
      const record = { partition: 0, offset: '0', key: Buffer.from(FITTING.id), payload: order({}) };
      return texts(checkRecords(graph, 'orders', [record], 'what the producer writes', { hasTombstones }));
    };
    const [misfit] = await said('');
    assert.equal(misfit?.isCertain, false);
    assert.deepEqual(misfit.problems, [
      'tombstone: the topic has records without a value, and subscribers are not told that their keys were deleted; write tombstone: NULL, COMPLETE or SKIP',
    ]);
    assert.deepEqual(await said('', false), []);
    for (const action of ['SKIP', 'NULL', 'COMPLETE']) assert.deepEqual(await said(`, tombstone: ${action}`), []);
  });

  it('survives payloads that are nested deeply and lists of thousands', async (t) => {
    const lines = Array.from({ length: 10_000 }, () => ({ sku: 's' }));
    assert.deepEqual(await found(t, BY_ID, [order({ lines })]), []);
  });

  describe('rows before a change', () => {
    const CUSTOMERS = 'match: [{ arg: "customer", path: "customer" }], tombstone: NULL';
    const insert = { op: 'CREATE', before: null, isFilled: true } as const;

    const said = async (
      t: TestContext,
      rules: string,
      change: CheckedRecord['change'],
      args = '(customer: ID!)',
      more = '',
      envelope = 'DEBEZIUM',
    ) => {
      const sdl = `
        type Subscription { rows${args}: Row @kafka(topic: "rows", envelope: ${envelope}, ${rules}) }
        type Row { id: ID! customer: ID ${more} }`;
      const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': sdl }));
      const [key, payload] = [
        { key: Buffer.from('{"id":7}'), keyValue: { id: 7 } },
        { id: 7, customer: 'c1' },
      ];
      const records = [{ partition: 0, offset: '0', ...key, payload, ...(change && { change }) }];
      const misfits = texts(checkRecords(graph, 'rows', records, 'what the producer writes'));
      assert.ok(misfits.every(({ isCertain }) => isCertain));
      return misfits.flatMap(({ problems }) => problems);
    };

    it('warns of a match, a claim, a filter, ROW and BEFORE that need them, where they do not count', async (t) => {
      assert.deepEqual(await said(t, CUSTOMERS, insert), [
        'match of "customer" on "customer", which the key does not have: this needs the row before a change, which does not count, because a connector ' +
          "such as PostgreSQL's may not log whole rows: subscribers that a row leaves are not told, or not what it was; " +
          'ALTER TABLE … REPLICA IDENTITY FULL (Flink writes whole rows as it is), and write before: WHOLE in @kafka',
      ]);
      const claim = 'where: [{ claim: "sub", path: "customer" }], tombstone: NULL';
      assert.match((await said(t, claim, insert, ''))[0]!, /^where of the claim "sub" on "customer", which/);
      const filter = 'where: [{ arg: "customer", path: "customer", op: EQ }], tombstone: ROW';
      const [filtered] = await said(t, filter, insert, '(customer: ID)');
      assert.match(filtered!, /^where of "customer" on "customer", which the key does not have, tombstone: ROW: this/);
      const byId = 'match: [{ arg: "id", path: "id" }], tombstone: NULL';
      const [before] = await said(t, byId, insert, '(id: ID!)', 'was: Row @change(field: BEFORE)');
      assert.match(before!, /^@change\(field: BEFORE\): this needs/);
    });

    it('says nothing where the key has the columns, a state knows them, rows are whole, or nobody is told', async (t) => {
      const byId = 'match: [{ arg: "id", path: "id" }], tombstone: NULL';
      assert.deepEqual(await said(t, byId, insert, '(id: ID!)'), []);
      assert.deepEqual(await said(t, `${CUSTOMERS}, state: {}`, insert), []);
      assert.deepEqual(await said(t, CUSTOMERS.replace('NULL', 'SKIP'), insert), []);
      assert.deepEqual(await said(t, `${CUSTOMERS}, before: WHOLE`, insert), []);
      assert.deepEqual(await said(t, CUSTOMERS, { ...insert, isFilled: false }), []);
      assert.deepEqual(await said(t, CUSTOMERS, undefined), []);
    });

    it('says of envelopes without rows before who is not told, and how to keep them', async (t) => {
      const ofEnvelope = (envelope: string, rules: string, change: CheckedRecord['change'] = { op: 'UPDATE' }) =>
        said(t, rules, change, rules.includes('path: "id"') ? '(id: ID!)' : '(customer: ID!)', '', envelope);
      const [flat, ...others] = await ofEnvelope('DEBEZIUM_FLAT', CUSTOMERS);
      assert.match(
        flat!,
        /^match of "customer" on "customer", which the key does not have: this needs the row before a change, which a flattened update does not have, and of a delete it counts only where .* before: WHOLE: else a change reaches the subscribers that its key names, .*; add state: \{\} /,
      );
      assert.deepEqual(others, []);
      assert.match(
        (await ofEnvelope('DEBEZIUM_FLAT', `${CUSTOMERS}, before: WHOLE`))[0]!,
        /which a flattened update does not have: subscribers that a row leaves are not told unless it is deleted; add state/,
      );
      assert.match(
        (await ofEnvelope('CONNECT', CUSTOMERS))[0]!,
        /which rows of Kafka Connect do not have: .*; add state/,
      );
      assert.match(
        (await ofEnvelope('MONGODB', CUSTOMERS))[0]!,
        /which updates of this topic do not have: .*; set capture\.mode=change_streams_update_full_with_pre_image/,
      );
      assert.deepEqual(await ofEnvelope('MONGODB', CUSTOMERS, { op: 'UPDATE', before: { id: 7 } }), []);
      const byId = 'match: [{ arg: "id", path: "id" }], tombstone: NULL';
      for (const envelope of ['DEBEZIUM_FLAT', 'CONNECT', 'MONGODB']) {
        assert.deepEqual(await ofEnvelope(envelope, byId), []);
        assert.deepEqual(await ofEnvelope(envelope, `${CUSTOMERS}, state: {}`), []);
      }
    });

    it('warns of before: WHOLE where an update has none', async (t) => {
      const whole = `${CUSTOMERS}, before: WHOLE`;
      const [text, ...others] = await said(t, whole, { op: 'UPDATE', before: null, isFilled: true });
      assert.match(
        text!,
        /^before: WHOLE is not true of the table: an update has no row before.*REPLICA IDENTITY FULL/,
      );
      assert.deepEqual(others, []);
      assert.deepEqual(await said(t, whole, { op: 'UPDATE', before: { id: 7 }, isFilled: true }), []);
    });
  });

  describe('values of a connector without the names of their types', () => {
    const raw =
      (value: unknown, type = 'String', name = 'at') =>
      async (t: TestContext) => {
        const fields = `row: Row @kafka(topic: "orders") } type Row { ${name}: ${type}`;
        const misfits = await found(t, fields, [{ [name]: value }]);
        return misfits.flatMap(({ problems, isCertain }) =>
          problems.map((text) => `${isCertain ? 'warn' : 'info'} ${text}`),
        );
      };

    it('names times that a String shows as digits, with the setting', async (t) => {
      assert.deepEqual(await raw(1_759_312_800_000_000, 'String', 'changed_at')(t), [
        'warn Row.changed_at: the record has a number at "changed_at" that looks like microseconds since 1970, and the field shows its digits; ' +
          'set time.precision.mode=isostring of Debezium, or schemas.enable=true of its converter with an envelope in @kafka',
      ]);
      const looks = async (value: unknown, name: string, type = 'String') =>
        (await raw(value, type, name)(t)).map((text) => text.replace(/ Row.*looks like| since.*/g, ''));
      assert.deepEqual(await looks('1759312800123456789', 'end_time'), ['warn nanoseconds']);
      assert.deepEqual(await looks(20_362, 'due_date'), ['warn days']);
      assert.deepEqual(await looks(1_759_312_800_000, 'created_at'), ['info milliseconds']);
    });

    it('says nothing of other numbers and names', async (t) => {
      for (const [value, name, type] of [
        [1_759_312_800_000_000, 'id', 'String'],
        [1_759_312_800_000_000, 'changed_at', 'ID'],
        [1_759_312_800_000_000, 'changed_at', 'Float'],
        [9_007_199_254_740_991, 'changed_at', 'String'],
        [1_759_312_800_000_000, 'format', 'String'],
        [20_362, 'candidate', 'String'],
        [20_362, 'at', 'String'],
        ['2026-11-24', 'due_date', 'String'],
        [null, 'due_date', 'String'],
        ['AAEC', 'note', 'String'],
      ] as const) {
        assert.deepEqual(await raw(value, type, name)(t), [], `${name} ${String(value)}`);
      }
    });

    it("names a decimal's bytes that a Float cannot show, with the settings", async (t) => {
      const fix =
        'set decimal.handling.mode=string of Debezium, or decimal.format=NUMERIC of JsonConverter, ' +
        'or schemas.enable=true of its converter with an envelope in @kafka';
      const text = `at "tax" that looks like a decimal's bytes; ${fix}`;
      assert.deepEqual(await raw('BAg=', 'Float', 'tax')(t), [`warn Row.tax: the record has a string ${text}`]);
      const variable = { scale: 2, value: 'BOI=' };
      for (const type of ['Float', 'String']) {
        assert.deepEqual(await raw(variable, type, 'tax')(t), [`warn Row.tax: the record has an object ${text}`]);
      }
      const [other = ''] = await raw('open', 'Float', 'tax')(t);
      assert.match(other, /a string at "tax", which does not fit the type Float/);
    });

    it('names columns of Debezium in JSON without a schema, whatever the types of their fields are', async (t) => {
      const column = async (
        type: string,
        name: string,
        values: readonly unknown[],
        isUntyped = true,
        envelope = 'DEBEZIUM',
      ) => {
        const sdl = `
          type Subscription { row: Row @kafka(topic: "rows", envelope: ${envelope}, tombstone: NULL) }
          scalar BigInt
          type Row { ${name}: ${type} n: BigInt }`;
        const graph = await loadGraph(await graphFolder(t, { 'schema.graphql': sdl }));
        const records = values.map((value, i) => {
          return { partition: 0, offset: `${i}`, key: null, payload: { [name]: value, n: null }, isUntyped };
        });
        const misfits = texts(checkRecords(graph, 'rows', records, 'what the producer writes'));
        assert.ok(misfits.every(({ blocking }) => blocking.length === 0));
        return misfits.flatMap(({ problems }) => problems.map((text) => / that (.*?)(?: since.*)?;/.exec(text)?.[1]));
      };
      const micros = 1_759_312_800_000_000;
      assert.deepEqual(await column('String', 'amount', ['BBo=', 'AeJA', null]), ["may be a decimal's bytes"]);
      assert.deepEqual(await column('[String]', 'amounts', [['bg=='], ['/x8=']]), ["may be a decimal's bytes"]);
      assert.deepEqual(await column('Float', 'changed_at', [micros, micros + 1]), ['looks like microseconds']);
      assert.deepEqual(await column('BigInt', 'end_time', ['1759312800123456789']), ['looks like nanoseconds']);
      assert.deepEqual(await column('Float', 'updated', [micros]), ['may be microseconds']);
      assert.deepEqual(await column('Int', 'due_date', [20_362, 20_001, -1]), ['looks like days']);
      assert.deepEqual(await column('Float', 'amount', ['BBo=']), ["looks like a decimal's bytes"]);
      for (const [type, name, values] of [
        ['String', 'word', ['open', 'done']],
        ['String', 'token', ['c2VjcmV0LXRva2VuLW9mLXNvbWVib2R5Cg==']],
        ['String', 'note', ['BBo=', 'not base64']],
        ['String', 'assignment', ['abd=']],
        ['Int', 'due_date', [20_362, 7, 8, 9]],
        ['Int', 'due_date', [20_362, 4_000_000]],
        ['Int', 'total', [20_362]],
        ['Float', 'created_at', [1_759_312_800_000]],
        ['Float', 'account_id', [micros]],
        ['Float', 'updated', [micros, 5]],
      ] as const) {
        assert.deepEqual(await column(type, name, values), [], `${name} ${String(values)}`);
      }
      assert.deepEqual(await column('String', 'amount', ['BBo='], false), []);
      assert.deepEqual(await column('String', 'amount', ['BBo='], true, 'CONNECT'), []);
      const flat = await column('String', 'amount', ['BBo='], true, 'DEBEZIUM_FLAT');
      assert.deepEqual(flat, ["may be a decimal's bytes"]);
    });

    it('names the type that a record itself says, and the envelope that reads it', async (t) => {
      const typed = (field: string, type: string, name?: string) => ({ field, type, ...(name && { name }) });
      const row = [
        typed('taxRate', 'bytes', 'org.apache.kafka.connect.data.Decimal'),
        typed('on', 'int32', 'io.debezium.time.Date'),
        typed('zonedAt', 'string', 'io.debezium.time.ZonedTimestamp'),
        typed('made', 'int32', 'io.debezium.time.Year'),
      ];
      const type = 'type Row { tax_rate: String on: String zoned_at: String made: Int }';
      const payload = { tax_rate: 'BAg=', on: 20_362, zoned_at: '2026-11-24T02:07:50Z', made: 2026 };
      const problems = async (path: string, schema: object, value: object) => {
        const fields = `row: Row @kafka(topic: "orders", payload: "${path}") } ${type} type Other { a: Int`;
        const misfits = await found(t, fields, [{ schema, payload: value }]);
        assert.ok(misfits.every(({ isCertain }) => isCertain));
        return misfits.flatMap((misfit) => misfit.problems);
      };
      const said = (at: string, envelope: string) => [
        `Row.tax_rate: the record has a value of org.apache.kafka.connect.data.Decimal at "${at}.tax_rate", as its own schema says, which is not used; write envelope: ${envelope} in @kafka`,
        `Row.on: the record has a value of io.debezium.time.Date at "${at}.on", as its own schema says, which is not used; write envelope: ${envelope} in @kafka`,
      ];
      assert.deepEqual(await problems('payload', { type: 'struct', fields: row }, payload), said('payload', 'CONNECT'));
      const flat = { type: 'struct', fields: [...row, typed('__op', 'string')] };
      assert.deepEqual(await problems('payload', flat, payload), said('payload', 'DEBEZIUM_FLAT'));
      const change = {
        type: 'struct',
        fields: [{ field: 'after', type: 'struct', fields: row }, typed('op', 'string')],
      };
      const deep = await problems('payload.after', change, { after: payload, op: 'c' });
      assert.deepEqual(deep, said('payload.after', 'DEBEZIUM'));
    });
  });
});
