import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GraphQLError, GraphQLScalarType } from 'graphql';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { templateOf } from '../../../src/graph/projection/template.ts';
import { RenderContext } from '../../../src/graph/projection/render-context.ts';
import { TextPayload } from '../../../src/graph/payload.ts';
import { createStage, factsOf, payloadOf, textOf } from '../../gateway/fanout/stage.ts';
import { writtenJson } from '../../support/written-json.ts';

const SDL = `
  type Subscription {
    item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item")
    made: Item @kafka(topic: "made")
  }
  interface Named { name: String }
  type Item implements Named {
    id: ID! name: String counted: Counted odd: Odd
    whose: String mine(prefix: String): String later: String fails: String must: String!
    seller: Seller sellers: [Seller!] named: Named profile: Profile
  }
  type Seller implements Named { name: String city: City rating: Float }
  type City { name: String greeting: String }
  type Profile { user: String friends: [Friend!] }
  type Friend { name: String of: String }
  scalar Counted
  scalar Odd`;

type Resolver = (source: Record<string, unknown>, args: { prefix?: string }, context: ExecutionContext) => unknown;
const user = ({ connection }: ExecutionContext) => connection.claims['user'] as string;

let serialized = 0;
const resolvers: Record<string, Record<string, Resolver> | GraphQLScalarType> = {
  Subscription: { made: (source) => source },
  Item: {
    whose: (_, __, context) => user(context),
    mine: ({ name }, { prefix = '' }, context) => `${prefix}${user(context)}"\\ ${String(name)}`,
    later: async (_, __, context) => {
      await Promise.resolve();
      return `later ${user(context)}`;
    },
    fails: (_, __, context) => {
      if (user(context) !== 'alice') throw new GraphQLError(`not for ${user(context)}`);
      return 'for alice';
    },
    must: (_, __, context) => (user(context) === 'alice' ? 'is' : null),
    profile: (_, __, context) => ({ user: user(context), friends: [{ name: 'x' }] }),
    // What reads the connection while it becomes text.
    odd: (_, __, context) => ({ toJSON: () => `odd ${user(context)}` }),
  },
  City: { greeting: ({ name }, _, context) => `${String(name)} greets ${user(context)}` },
  Friend: { of: (_, __, context) => user(context) },
  Counted: new GraphQLScalarType({
    name: 'Counted',
    serialize: (value) => {
      serialized++;
      return value;
    },
  }),
  Odd: new GraphQLScalarType({ name: 'Odd' }),
};

const QUERIES: Record<string, string> = {
  'one field': '{ item { id counted whose } }',
  'aliases and arguments': '{ item { a: whose name b: mine(prefix: "p") whose c: mine } }',
  'a field that is selected twice': '{ item { whose ... { whose } ...F } } fragment F on Item { whose name }',
  'fragments, on an interface too':
    '{ item { ...F ... on Named { name } } } fragment F on Item { whose seller { ...S } } fragment S on Seller { city { greeting name } }',
  'a fragment for another type inside one for an interface':
    '{ item { id whose ... on Named { name ... on Seller { n: name } ... on Item { counted } } ...N } } fragment N on Named { ...S } fragment S on Seller { m: name rating }',
  'an object of which nothing is selected':
    '{ item { name seller { ...N } sellers { ...N } } } fragment N on Named { ... on Item { id } }',
  'a root of which nothing is selected': '{ item { ... on Named { ... on Seller { name } } } }',
  conditions:
    '($y: Boolean = true, $n: Boolean = false) { item { name @skip(if: $n) whose @include(if: $n) w: whose @include(if: $y) ... @skip(if: $y) { mine } later } }',
  'a deeper slot': '{ item { seller { name city { __typename greeting name } rating } name } }',
  'an object that a resolver made': '{ item { name profile { user friends { name of } } } }',
  'fragments inside a slot':
    '{ item { profile { ...P } name } } fragment P on Profile { friends { ...Q } } fragment Q on Friend { of }',
  promises: '{ item { later name l: later } }',
  'values that become text in their own way': '{ item { name odd } }',
  'an error': '{ item { name fails } }',
  'an error that takes its parent': '{ item { name must } }',
  'a list above': '{ item { whose sellers { name city { greeting } } } }',
  'an abstract type': '{ item { whose named { name ... on Seller { city { greeting } } } } }',
  'a root field with a resolver': '{ made { name whose } }',
  'nothing but a slot': '{ item { whose } }',
  __typename: '{ item { __typename whose t: __typename } }',
};

const CHANNEL = 't{item.id=*}';

const city = { name: 'Köln "am Rhein"' };
const seller = { name: 'Sé', city, rating: 1.5 };
const PAYLOADS: Record<string, unknown> = {
  full: {
    id: '1',
    name: 'n',
    counted: 1,
    seller,
    sellers: [seller, { name: 'b', city: null }],
    named: { __typename: 'Seller', ...seller },
  },
  'with nulls': { id: '1', name: null, seller: null, sellers: null, named: null },
  'with a hollow parent': { id: '1', name: 'n', seller: { name: 's', city: null }, sellers: [] },
  'whose leaf has the wrong shape': { id: '1', name: { not: 'text' }, seller, sellers: [] },
  'without what must be there': { name: 'n' },
  nothing: null,
};

describe('an event for several connections', () => {
  for (const [what, query] of Object.entries(QUERIES)) {
    for (const hasProjection of [true, false])
      it(`equals an execution of the whole operation: ${what}, PROJECTION=${hasProjection}`, async (t) => {
        const stage = await createStage(t, { sdl: SDL, resolvers, jitAfterUses: 1, hasProjection });
        const listeners = [];
        for (const [id, name] of [
          ['a1', 'alice'],
          ['b1', 'bob'],
          ['a2', 'alice'],
          ['c1', 'cem'],
          ['b2', 'bob'],
        ] as const) {
          listeners.push(await stage.join(`subscription ${query}`, factsOf(id, { user: name })));
        }
        for (let round = 0; round < 3; round++) {
          for (const payload of Object.values(PAYLOADS)) {
            if (what.startsWith('a root field')) await stage.publish('made{}', payload ?? {});
            else await stage.publish(CHANNEL, { item: payload });
          }
        }
        for (const { received, alone } of listeners) {
          assert.ok(received.length > 0);
          assert.deepEqual(received, alone);
        }
      });
  }

  it('executes only the fields that have resolvers', async (t) => {
    const stage = await createStage(t, { sdl: SDL, resolvers, jitAfterUses: 1, hasProjection: true });
    const listeners = [];
    for (let i = 0; i < 20; i++) {
      listeners.push(await stage.join('subscription { item { counted whose } }', factsOf(`c${i}`, { user: `u${i}` })));
    }
    const publish = () => stage.publish(CHANNEL, { item: { id: '1', counted: 1 } });
    await publish();
    await new Promise((resolve) => setImmediate(resolve));
    serialized = 0;
    await publish();
    // The stage executes for each listener once more, alone.
    assert.equal(serialized - listeners.length, 1, 'once for all');
    for (const { received, alone } of listeners) {
      assert.ok(received.length > 0);
      assert.deepEqual(received, alone);
    }
  });
});

describe('the printed text', () => {
  const PLAIN = `
    extend schema @crier(keys: KEEP)
    type Subscription { box: Box @kafka(topic: "t", payload: "box") }
    type Box {
      int: Int int_must: Int! float: Float boolean: Boolean id: ID string: String string_must: String! color: Color
      ints: [Int] strings_must: [String!]! colors: [[Color!]] box: Box boxes: [Box] constructor: String toString: Box length: Int
    }
    enum Color { RED GREEN }`;
  const LEAVES = `int int_must float boolean id string string_must color ints strings_must colors constructor length`;
  const QUERY = `subscription { box { ${LEAVES} __typename box { ${LEAVES} } boxes { a: string b: string int } toString { int } } }`;

  const any = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom<unknown[]>(
      0,
      -0,
      1e21,
      1e-7,
      2 ** 31,
      -(2 ** 31),
      1.5,
      '',
      '"\\',
      '\u2028',
      '\ud800',
      'é😀',
      'RED',
      'toString',
      true,
      null,
    ),
  );
  /** Mostly right, so that most cases are printed. */
  const right = (value: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 150, arbitrary: value }, { weight: 1, arbitrary: any });
  const string = right(
    fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\ud83d', '\u0000')),
  );
  const color = right(fc.constantFrom('RED', 'GREEN'));
  const int = right(fc.integer());
  const leaves = {
    int,
    int_must: int,
    float: right(fc.double({ noNaN: true, noDefaultInfinity: true })),
    boolean: right(fc.boolean()),
    id: right(fc.oneof(fc.string(), fc.integer())),
    string,
    string_must: string,
    color,
    ints: right(fc.array(fc.option(int))),
    strings_must: right(fc.array(string)),
    colors: right(fc.array(fc.array(color))),
  };
  const needed = ['int_must', 'string_must', 'strings_must'] as const;
  const inner = fc.record(leaves, { requiredKeys: [...needed] });
  const box = fc.record(
    { ...leaves, box: right(fc.option(inner)), boxes: right(fc.array(fc.option(inner))) },
    { requiredKeys: [...needed] },
  );

  it('equals the result of graphql-js, or leaves the payload to it, for 3,000 random payloads', async (t) => {
    const { runtime } = await createStage(t, { sdl: PLAIN, jitAfterUses: 1 });
    const { runtime: reference } = await createStage(t, { sdl: PLAIN, jitAfterUses: 0 });
    const facts = factsOf('a', {});
    const operationOf = (of: typeof runtime) => {
      const operation = of.prepare({ query: QUERY }, undefined);
      if ('errors' in operation) throw new Error(JSON.stringify(operation.errors));
      return { operation, variables: undefined, facts };
    };
    const [listener, referenceListener] = [operationOf(runtime), operationOf(reference)];
    await runtime.startEvent(payloadOf({})).execute(listener);
    const { schema } = runtime;
    const template = templateOf(schema, listener.operation, new RenderContext());
    let printed = 0;
    await fc.assert(
      fc.asyncProperty(box, async (value) => {
        const payload = payloadOf({ box: value });
        const { json } = await reference.startEvent(payload).execute(referenceListener);
        const rendered = payload.render(template!);
        if (rendered) printed++;
        if (rendered)
          assert.deepEqual(
            rendered.texts.map((text) => `${text.toString()}}`),
            [textOf(json)],
          );
        assert.equal(
          withoutIds(textOf((await runtime.startEvent(payload).execute(listener)).json)),
          withoutIds(textOf(json)),
        );
      }),
      { numRuns: 3000 },
    );
    assert.ok(printed > 1000, `only ${printed} were printed`);
  });

  it('has a template with up to 16 resolvers', async (t) => {
    const names = Array.from({ length: 17 }, (_, i) => `f${i}`);
    const sdl = `type Subscription { o: O @kafka(topic: "t") } type O { ${names.map((name) => `${name}: Int`).join(' ')} }`;
    const resolved = Object.fromEntries(names.map((name) => [name, () => 1]));
    const { runtime } = await createStage(t, { sdl, resolvers: { O: resolved } });
    const templateWith = (slots: number) => {
      const operation = runtime.prepare(
        { query: `subscription { o { ${names.slice(0, slots).join(' ')} } }` },
        undefined,
      );
      if ('errors' in operation) throw new Error(JSON.stringify(operation.errors));
      return templateOf(runtime.schema, operation, new RenderContext());
    };
    assert.ok(templateWith(16));
    assert.equal(templateWith(17), undefined);
  });

  it('does not render a payload with text after its end', async (t) => {
    const { runtime } = await createStage(t, { sdl: PLAIN });
    const operation = runtime.prepare({ query: QUERY }, undefined);
    if ('errors' in operation) throw new Error(JSON.stringify(operation.errors));
    const template = templateOf(runtime.schema, operation, new RenderContext())!;
    assert.ok(template.render(Buffer.from('{"box":null}')));
    assert.ok(template.render(Buffer.from('{"box":null} \n')));
    for (const rest of ['x', '{}', ',', '"', '}'])
      assert.equal(template.render(Buffer.from(`{"box":null} ${rest}`)), undefined);
  });

  it('equals the result of graphql-js, however the payload is written', async (t) => {
    const { runtime } = await createStage(t, { sdl: PLAIN, jitAfterUses: 1 });
    const { runtime: reference } = await createStage(t, { sdl: PLAIN, jitAfterUses: 0 });
    const facts = factsOf('a', {});
    const [listener, referenceListener] = [runtime, reference].map((of) => {
      const operation = of.prepare({ query: QUERY }, undefined);
      if ('errors' in operation) throw new Error(JSON.stringify(operation.errors));
      return { operation, variables: undefined, facts };
    });
    await runtime.startEvent(payloadOf({})).execute(listener!);
    const template = templateOf(runtime.schema, listener!.operation, new RenderContext())!;
    let printed = 0;
    await fc.assert(
      fc.asyncProperty(box, fc.infiniteStream(fc.nat(999)), async (value, choices) => {
        const text = writtenJson({ box: value }, () => choices.next().value as number);
        const payload = new TextPayload(Buffer.from(text));
        const { json } = await reference.startEvent(payload).execute(referenceListener!);
        const result = await runtime.startEvent(payload).execute(listener!);
        if (payload.render(template)) printed++;
        assert.equal(withoutIds(textOf(result.json)), withoutIds(textOf(json)), text);
      }),
      { numRuns: 3000 },
    );
    assert.ok(printed > 300, `only ${printed} were printed`);
  });
});

/** A masked error has a random id. */
function withoutIds(json: string): string {
  return json.replaceAll(/"id":"[0-9a-f-]{36}"/g, '"id":""');
}
