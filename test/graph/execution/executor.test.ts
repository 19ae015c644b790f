import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError, GraphQLScalarType, Location, parse } from 'graphql';
import type { ExecutionResult } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';
import { Executor } from '../../../src/graph/execution/executor.ts';
import { compileObstacle, schemaObstacle } from '../../../src/graph/execution/jit-gate.ts';
import { operationOf } from '../../../src/graph/documents/cached-document.ts';
import type { Operation } from '../../../src/graph/documents/operation.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';
import { schemaOf } from '../support/corpus.ts';

const SDL = `
  type Subscription {
    order(id: ID!, note: String): Order @kafka(topic: "orders", match: [{ arg: "id", path: "id" }])
  }
  type Query { now: String slow: String }
  type Order { id: ID note(ref: String = "d", box: Box, list: [String!], sealed: Base64): String size: Int }
  input Box { text: String deep: Box }
  scalar Base64
`;
const resolvers = {
  Order: { note: (_: unknown, args: object) => JSON.stringify(args) },
  Base64: new GraphQLScalarType({
    name: 'Base64',
    parseValue: (value) => value,
    parseLiteral: (node) => ('value' in node ? Buffer.from(String(node.value), 'base64').toString() : null),
  }),
};
const schema = schemaOf(SDL, resolvers);

function operationFor(
  query: string,
  options: { operationName?: string; schema?: typeof schema; hasLocations?: boolean } = {},
): Operation {
  const cache = new DocumentCache(options.schema ?? schema, {
    maxLength: 15_000,
    maxTokens: 1_000,
    maxDepth: 8,
    maxAliases: 15,
    maxDirectives: 50,
    hasIntrospection: true,
    hasLocations: options.hasLocations ?? false,
    maxEntries: 10,
    maxBytes: 1_000_000,
    maxInvalidEntries: 10,
  });
  const cached = cache.get(query);
  assert.ok('document' in cached, JSON.stringify(cached));
  const operation = operationOf(cached, options.operationName);
  assert.ok(!('errors' in operation), JSON.stringify(operation));
  return operation;
}

const run = (
  executor: Executor,
  operation: Operation,
  variables?: Record<string, unknown>,
  rootValue: unknown = { id: 7 },
) => executor.execute(executor.planOf(operation), { rootValue, context: {}, variables });

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('a copy of an operation', () => {
  it('shares no node with the original, except for locations', () => {
    for (const hasLocations of [false, true]) {
      const operation = operationFor('query Q($x: Boolean = true) { now @include(if: $x) slow }', { hasLocations });
      const copy = operation.copy();
      assert.deepEqual(copy, operation);
      const left: (readonly [unknown, unknown])[] = [[operation.document, copy.document]];
      for (let pair = left.pop(); pair; pair = left.pop()) {
        const [own, copied] = pair;
        if (typeof own !== 'object' || own === null || own instanceof Location) continue;
        assert.notEqual(own, copied);
        for (const [key, member] of Object.entries(own)) left.push([member, (copied as Record<string, unknown>)[key]]);
      }
      assert.ok(copy.document.definitions.includes(copy.definition));
      assert.equal(copy.definition.loc !== undefined, hasLocations);
    }
  });
});

describe('Executor', () => {
  it('compiles an operation once, after jitAfterUses executions, and never if jitAfterUses is 0', async () => {
    const outcomes: string[] = [];
    const executor = new Executor(schema, { jitAfterUses: 3, onCompile: (outcome) => outcomes.push(outcome) });
    const operation = operationFor('subscription { order(id: 7) { id } }');
    for (let i = 0; i < 3; i++) await run(executor, operation);
    assert.equal(executor.planOf(operation).compiled, undefined);
    for (let i = 0; i < 3; i++) assert.deepEqual(await run(executor, operation), { data: { order: { id: '7' } } });
    assert.equal(typeof executor.planOf(operation).compiled, 'function');
    assert.deepEqual(outcomes, ['compiled']);
    assert.equal(executor.planOf(operation).uses, 3, 'compiled executions are not counted');

    const never = operationFor('subscription { order(id: 7) { id } }');
    const interpreter = new Executor(schema, { jitAfterUses: 0 });
    for (let i = 0; i < 20; i++) await run(interpreter, never);
    assert.equal(interpreter.planOf(never).compiled, undefined);
  });

  it('compiles a prepared operation before its first execution if jitAfterUses is 1', async () => {
    const compileLater = () => assert.fail('compiled later');
    for (const [hasProjection, jitAfterUses, isCompiled, isSplit] of [
      [false, 1, true, false],
      [true, 1, false, true],
      [true, 2, false, false],
      [true, 0, false, false],
    ] as const) {
      const executor = new Executor(schema, { jitAfterUses, hasProjection, compileLater });
      const operation = operationFor('subscription { order(id: 7) { id } }');
      executor.prepare(operation);
      executor.prepare(operation);
      const plan = executor.planOf(operation);
      assert.deepEqual([typeof plan.compiled === 'function', Boolean(plan.split)], [isCompiled, isSplit]);
      assert.equal(JSON.stringify(await run(executor, operation)), '{"data":{"order":{"id":"7"}}}');
      assert.equal(plan.uses, isCompiled ? 0 : 1);
    }
  });

  it('compiles the slots of a prepared operation, not the whole of it', () => {
    const outcomes: string[] = [];
    const executor = new Executor(schema, { jitAfterUses: 1, onCompile: (outcome) => outcomes.push(outcome) });
    const operation = operationFor('subscription { order(id: 7) { id note } }');
    executor.prepare(operation);
    const plan = executor.planOf(operation);
    assert.deepEqual([plan.compiled, typeof plan.split?.slots?.compiled], [undefined, 'function']);
    assert.deepEqual(outcomes, ['compiled']);
    const query = operationFor('{ now }');
    executor.prepare(query);
    assert.equal(typeof executor.planOf(query).compiled, 'function');
  });

  it('executes an operation uncompiled until the compilation that it asked for once is done', async () => {
    const waiting: (() => void)[] = [];
    let isFull = true;
    const compileLater = (compile: () => void) => {
      if (isFull) return false;
      waiting.push(compile);
      return true;
    };
    const executor = new Executor(schema, { jitAfterUses: 1, compileLater });
    const operation = operationFor('subscription { order(id: 7) { id } }');
    const ask = async () => {
      assert.equal(JSON.stringify(await run(executor, operation)), '{"data":{"order":{"id":"7"}}}');
      executor.split(executor.planOf(operation));
    };
    for (let i = 0; i < 3; i++) await ask();
    isFull = false;
    for (let i = 0; i < 3; i++) await ask();
    assert.equal(waiting.length, 2, 'compiled and split, each tried again where the queue was full');
    assert.equal(executor.planOf(operation).uses, 6);
    for (const compile of waiting) compile();
    await ask();
    assert.equal(typeof executor.planOf(operation).compiled, 'function');
    assert.ok(executor.planOf(operation).split);
    assert.equal(executor.planOf(operation).uses, 6);
  });

  it('never splits an operation with PROJECTION=false', async () => {
    for (const hasProjection of [true, false]) {
      const executor = new Executor(schema, { jitAfterUses: 1, hasProjection });
      const operation = operationFor('subscription { order(id: 7) { id } }');
      for (let i = 0; i < 3; i++) await run(executor, operation);
      assert.equal(executor.split(executor.planOf(operation)) !== undefined, hasProjection);
    }
  });

  it('shares one compiled query for an operation, requested with or without its name', () => {
    const cache = operationFor('subscription A { order(id: 7) { id } }');
    const cached = { key: cache.key, document: cache.document, bytes: 0, operations: new Map<string, Operation>() };
    assert.equal(operationOf(cached), operationOf(cached, 'A'));
    assert.equal(operationOf(cached, null), operationOf(cached, ''));
  });

  it('names the operation that it cannot find, and requires a name if there are several', () => {
    const { document, key } = operationFor('subscription A { order(id: 7) { id } } query B { now }', {
      operationName: 'B',
    });
    const cached = { key, document, bytes: 0, operations: new Map<string, Operation>() };
    for (const [name, expected] of [
      ['C', /no operation "C"/],
      [undefined, /several operations/],
    ] as const) {
      const result = operationOf(cached, name);
      assert.ok('errors' in result);
      assert.match(result.errors[0]!.message, expected);
      assert.equal(result.errors[0]!.extensions?.['code'], 'OPERATION_RESOLUTION_FAILURE');
    }
    for (const name of ['x', 'y', 'toString']) operationOf(cached, name);
    assert.equal(cached.operations.size, 0, 'names that clients make up are not kept');
    const result = operationOf(cached, 'B');
    assert.ok(!('errors' in result));
    assert.equal(result.type, 'query');
  });

  it('executes a mutation once, also if its null takes an ancestor with it', async () => {
    let calls = 0;
    const Mutation = { bid: () => void calls++ };
    const within = schemaOf(`${SDL} type Mutation { bid: Int! }`, { ...resolvers, Mutation });
    const executor = new Executor(within, { jitAfterUses: 1 });
    const operation = operationFor('mutation { bid }', { schema: within });
    for (let i = 1; i <= 4; i++) {
      await run(executor, operation);
      assert.equal(calls, i);
    }
  });

  it('uses the variables of each execution', async () => {
    const executor = new Executor(schema, { jitAfterUses: 1 });
    const operation = operationFor('subscription($r: String) { order(id: 7) { note(ref: $r) } }');
    for (const r of ['a', 'b', 'c']) {
      const { data } = await run(executor, operation, { r });
      assert.deepEqual({ ...(data?.['order'] as object) }, { note: `{"ref":"${r}"}` });
    }
    assert.ok(executor.planOf(operation).compiled);
    const result = await run(executor, operation, { r: 5 });
    assert.match(
      result.errors?.[0]?.message ?? '',
      /Variable "\$r" (got invalid value 5; |has invalid value: )String cannot represent/,
    );
  });

  it('survives compiled code that throws', async () => {
    const executor = new Executor(schema, { jitAfterUses: 1 });
    const operation = operationFor('subscription { order(id: 7) { id } }');
    executor.planOf(operation).compiled = () => {
      throw new Error('bug');
    };
    assert.deepEqual(JSON.parse(JSON.stringify(await run(executor, operation))), { data: { order: { id: '7' } } });
    executor.planOf(operation).compiled = () => Promise.reject(new Error('bug'));
    assert.deepEqual(JSON.parse(JSON.stringify(await run(executor, operation))), { data: { order: { id: '7' } } });
  });

  it('remembers that an operation cannot be compiled', async () => {
    const outcomes: unknown[] = [];
    const executor = new Executor(schema, { jitAfterUses: 1, onCompile: (...outcome) => outcomes.push(outcome) });
    const operation = operationFor('{ __schema { queryType { name } } }');
    for (let i = 0; i < 5; i++) await run(executor, operation);
    assert.deepEqual(outcomes, [['refused', 'introspection']]);
    assert.equal(executor.planOf(operation).compiled, null);
  });

  it('passes the arguments of the field to subscribe, never the variables of the operation (S-55)', () => {
    const executor = new Executor(schema, { jitAfterUses: 1 });
    const operation = operationFor(
      'subscription($id: ID!) { order(id: "1") { note(ref: $id) } }'.replace('$id: ID!', '$id: String'),
    );
    const result = executor.subscriptionArguments(operation, { id: 'another tenant' });
    assert.ok('args' in result);
    assert.equal(result.field.name, 'order');
    assert.deepEqual({ ...result.args }, { id: '1' });
  });

  it('coerces the arguments of a subscription, even in fragments', () => {
    const executor = new Executor(schema, { jitAfterUses: 1 });
    const operation = operationFor(
      'subscription($x: ID!, $n: String = "n") { ... { ...F } } fragment F on Subscription { order(id: $x, note: $n) { id } }',
    );
    const result = executor.subscriptionArguments(operation, { x: 7 });
    assert.ok('args' in result);
    assert.deepEqual({ ...result.args }, { id: '7', note: 'n' });
  });

  it('refuses variables that do not fit with BAD_USER_INPUT', () => {
    const executor = new Executor(schema, { jitAfterUses: 1 });
    const operation = operationFor('subscription($x: ID!) { order(id: $x) { id } }');
    for (const x of [undefined, null, 1e999, -0.5, {}, [], true]) {
      const result = executor.subscriptionArguments(operation, { x });
      assert.ok('errors' in result);
      assert.equal(result.errors[0]?.extensions?.['code'], 'BAD_USER_INPUT');
    }
    assert.ok('args' in executor.subscriptionArguments(operation, { x: -0 }));
  });
});

describe('the injection through graphql-jit', () => {
  const MARKER = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d';
  const ATTACK = `${MARKER}0,globalThis.__marker=1`;
  const escaped = MARKER.replaceAll('_', '\\u005f');
  const braced = MARKER.replaceAll('M', '\\u{4d}');
  const sealed = Buffer.from(ATTACK).toString('base64');
  const field = (args: string) => `subscription { order(id: 7) { note(${args}) } }`;

  const variants: Record<string, [query: string, argument?: Record<string, unknown>]> = {
    'in a string': [field(`ref: "${ATTACK}"`)],
    'in \\u escapes': [field(`ref: "${escaped}0,globalThis.__marker=1"`)],
    'in \\u{} escapes': [field(`ref: "${braced}0,globalThis.__marker=1"`)],
    'in one escape': [field(`ref: "${MARKER.replace('MAGIC', 'MA\\u0047IC')}0,globalThis.__marker=1"`)],
    'in a block string': [field(`ref: """${ATTACK}"""`)],
    'in a fragment': [`subscription { order(id: 7) { ...F } } fragment F on Order { note(ref: "${ATTACK}") }`],
    "as a variable's default": [`subscription($r: String = "${ATTACK}") { order(id: 7) { note(ref: $r) } }`],
    'in an input object': [
      field(`box: { deep: { text: "${ATTACK}" } }`),
      { ref: 'd', box: { deep: { text: ATTACK } } },
    ],
    'in a list': [field(`list: ["a", "${ATTACK}"]`), { ref: 'd', list: ['a', ATTACK] }],
    'sealed in a custom scalar': [field(`sealed: "${sealed}"`), { ref: 'd', sealed: ATTACK }],
    'as a variable': ['subscription($r: String) { order(id: 7) { note(ref: $r) } }'],
  };
  const marker = () => (globalThis as { __marker?: unknown }).__marker;

  for (const [name, [query, argument]] of Object.entries(variants)) {
    it(`is inert ${name}: the argument arrives as that string (S-54)`, async () => {
      const operation = operationFor(query);
      const executor = new Executor(schema, { jitAfterUses: 1 });
      for (let i = 0; i < 5; i++) {
        const result = JSON.parse(
          JSON.stringify(await run(executor, operation, name === 'as a variable' ? { r: ATTACK } : {})),
        ) as {
          data: { order: { note: string } };
        };
        assert.deepEqual(JSON.parse(result.data.order.note), argument ?? { ref: ATTACK });
        await nextTurn();
      }
      assert.equal(executor.planOf(operation).compiled === null, name !== 'as a variable');
      assert.equal(marker(), undefined);
    });
  }

  it("is refused in a schema's default values", () => {
    assert.match(
      schemaObstacle(schemaOf(`type Subscription { a(x: String = "${ATTACK}"): Int @kafka(topic: "t") }`)) ?? '',
      /default value of Subscription\.a\(x:\)/,
    );
    assert.match(
      schemaObstacle(
        schemaOf(`type Subscription { a(x: I): Int @kafka(topic: "t") } input I { b: [String] = ["${ATTACK}"] }`),
      ) ?? '',
      /I\.b/,
    );
    const keyed = `scalar Json type Subscription { a(x: I): Int @kafka(topic: "t") } input I { b: Json = { ${MARKER}: 1 } }`;
    assert.match(schemaObstacle(schemaOf(keyed)) ?? '', /I\.b/, 'as a key');
    assert.equal(schemaObstacle(schemaOf(keyed.replace(MARKER, 'harmless'))), undefined);
    assert.equal(schemaObstacle(schema), undefined);
  });

  it('cannot start the name of an enum value, which a schema refuses', () => {
    const { problems } = buildGraphSchema(
      `type Subscription { a: E @kafka(topic: "t") } enum E { ${MARKER}0 }`,
      'schema.graphql',
    );
    assert.match(problems.join(), /must not begin with "__"/);
  });

  it('works on raw graphql-jit, which is why the gate exists (twin of S-54)', () => {
    for (const name of [
      'in a string',
      'in \\u escapes',
      'in a block string',
      'in a fragment',
      'in a list',
      'sealed in a custom scalar',
    ]) {
      const compiled = compileQuery(schema, parse(variants[name]![0]), undefined);
      assert.ok(isCompiledQuery(compiled));
      void compiled.query({ id: 7 }, {}, {});
      assert.equal(marker(), 1, name);
      delete (globalThis as { __marker?: unknown }).__marker;
    }
  });
});

describe('the gate', () => {
  const obstacle = (query: string, within = schema) => {
    const { document, definition } = operationFor(query, { schema: within });
    return compileObstacle(within, document, definition);
  };

  it('lets ordinary operations pass', () => {
    assert.equal(
      obstacle('subscription($r: String) { order(id: 7) { id note(ref: $r, box: { text: "a" }, list: ["b"]) } }'),
      undefined,
    );
  });

  it('rejects a fragment that is spread twice only next to @skip or @include', () => {
    const query = (root: string) =>
      `subscription($x: Boolean = true) { order(id: 7) { ${root} } } fragment F on Order { id }`;
    assert.equal(
      obstacle(query('...F ...F n: note @include(if: $x)')),
      '@skip or @include beside a fragment spread twice',
    );
    assert.equal(obstacle(query('...F n: note @include(if: $x)')), undefined);
    assert.equal(obstacle('subscription { order(id: 7) { ...F ...F } } fragment F on Order { id }'), undefined);
  });

  it('rejects a variable of a recursive input type, which graphql-jit expands infinitely', () => {
    assert.match(obstacle('subscription($b: Box) { order(id: 7) { note(box: $b) } }') ?? '', /recursive input type/);
  });

  it('rejects schemas whose resolvers graphql-jit would mix up', () => {
    const mixed = schemaOf('type Subscription { a: A @kafka(topic: "t") } type A { bc: Int } type Ab { c: Int }');
    assert.match(schemaObstacle(mixed) ?? '', /Ab\.c and A\.bc have one name/);
  });

  it('rejects infinitely nested abstract types', () => {
    const many = Array.from({ length: 20 }, (_, i) => `type T${i} implements N { n: N id: ID }`).join(' ');
    const wide = schemaOf(`type Subscription { n: N @kafka(topic: "t") } interface N { n: N id: ID } ${many}`);
    assert.match(obstacle('subscription { n { n { n { n { n { id } } } } } }', wide) ?? '', /too many fields/);
  });
});

describe('maskErrors', () => {
  const secret = new Error('pg://user:pass@db failed');

  it('replaces an error that is not a GraphQLError by a code and an id, and reports the original', () => {
    const reported: unknown[] = [];
    const result: ExecutionResult = {
      data: { a: null },
      errors: [new GraphQLError(secret.message, { path: ['a'], originalError: secret })],
    };
    const masked = maskErrors(result, (...call) => `id ${reported.push(call)}`);
    const id = 'id 1';
    assert.deepEqual(masked, {
      data: { a: null },
      errors: [{ message: 'Internal server error', path: ['a'], extensions: { code: 'INTERNAL_SERVER_ERROR', id } }],
    });
    assert.deepEqual(reported, [[secret, ['a']]]);
    assert.doesNotMatch(JSON.stringify(masked), /pg:|stack|at /);
  });

  it('passes on a GraphQLError of a resolver, with its code and extensions', () => {
    const said = new GraphQLError('Sold out', { extensions: { code: 'SOLD_OUT', left: 0 } });
    const result: ExecutionResult = {
      errors: [new GraphQLError('Sold out', { path: ['a'], originalError: said, extensions: said.extensions })],
    };
    assert.deepEqual(maskErrors(result, assert.fail), {
      errors: [{ message: 'Sold out', path: ['a'], extensions: { code: 'SOLD_OUT', left: 0 } }],
    });
  });

  for (const jitAfterUses of [0, 1]) {
    it(`never shows a value that does not fit its type, ${jitAfterUses === 0 ? 'interpreted' : 'compiled'}`, () => {
      const drifted = schemaOf(`
        type Query { hello: String }
        type Subscription { drift: Drift @kafka(topic: "drifts", payload: "drift") }
        type Drift { text: String number: Int float: Float flag: Boolean id: ID kind: Kind list: [String] }
        enum Kind { A }
      `);
      const operation = operationFor('subscription { drift { text number float flag id kind list } }', {
        schema: drifted,
      });
      const executor = new Executor(drifted, { jitAfterUses });
      const secret = { password: 'hunter2' };
      const fields = ['text', 'number', 'float', 'flag', 'id', 'kind', 'list'];
      const drift = Object.fromEntries(fields.map((field) => [field, secret]));
      for (let i = 0; i < 3; i++) {
        const result = run(executor, operation, undefined, { drift }) as ExecutionResult;
        const { errors } = maskErrors(result, () => 'id');
        assert.equal(errors?.length, fields.length);
        assert.doesNotMatch(JSON.stringify(errors), /hunter2|password/);
        assert.equal(errors[0]?.message, 'String cannot represent the value of this field');
      }
    });
  }

  for (const jitAfterUses of [0, 1]) {
    const mode = jitAfterUses === 0 ? 'interpreted' : 'compiled';
    it(`names what is wrong with a result that does not fit the schema, and none of its values, ${mode}`, async () => {
      const own = schemaOf(
        `
        type Query { hello: String }
        type Subscription { order: Order @kafka(topic: "orders") }
        type Order { id: ID! total: Float parts: [Part!] items: [Item] node: Node checked: Part }
        type Part { name: String! }
        union Item = Book | Toy
        interface Node { id: ID }
        type Book { id: ID }
        type Toy implements Node { id: ID }
      `,
        {
          Node: { __resolveType: (value: { kind: string }) => value.kind },
          Order: {
            checked: () => {
              throw new Error('Cannot return null for non-nullable field Part.name of hunter2.');
            },
          },
        },
      );
      const operation = operationFor(
        'subscription { order { total parts { name } items { ... on Book { id } } node { id } checked { name } } }',
        { schema: own },
      );
      const executor = new Executor(own, { jitAfterUses });
      const order = {
        parts: [{ name: 'hunter2' }, { name: null }],
        items: [{ __typename: 'hunter2' }, {}],
        node: { kind: 'hunter2' },
      };
      for (let i = 0; i < 3; i++) {
        const logged: unknown[] = [];
        const { errors, data } = maskErrors(await run(executor, operation, undefined, order), (error) =>
          String(logged.push((error as Error).message)),
        );
        assert.equal(
          JSON.stringify(data),
          '{"order":{"total":null,"parts":null,"items":[null,null],"node":null,"checked":null}}',
        );
        const abstract = (type: string, field: string) =>
          `Abstract type "${type}" must resolve to an Object type at runtime for field "Order.${field}".`;
        assert.deepEqual(
          errors?.map(({ message, path }) => [path?.join('.'), message]),
          [
            ['order.parts.1.name', 'Cannot return null for non-nullable field Part.name.'],
            ['order.items.0', abstract('Item', 'items')],
            ['order.items.1', abstract('Item', 'items')],
            ['order.node', abstract('Node', 'node')],
            ['order.checked', 'Internal server error'],
          ],
        );
        assert.deepEqual(
          errors.map(({ extensions }) => extensions),
          logged.map((_, index) => ({ code: 'INTERNAL_SERVER_ERROR', id: `${index + 1}` })),
        );
        assert.doesNotMatch(JSON.stringify(errors), /hunter2/);
        assert.equal(
          logged[0],
          'Part.name: null, which its type does not allow; correct the record or the resolver, or make the type nullable',
        );
      }
    });
  }

  it('does not change a result without errors', () => {
    const result = { data: { a: 1 } };
    assert.equal(maskErrors(result, assert.fail), result);
  });
});
