import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLScalarType, parse } from 'graphql';
import type { GraphQLResolveInfo, OperationDefinitionNode } from 'graphql';
import { Operation } from '../../src/graph/documents/operation.ts';
import { Executor } from '../../src/graph/execution/executor.ts';
import { schemaOf } from './support/corpus.ts';

const SDL = `
  type Query { echo(day: Day, count: Int = 3, box: Box = { size: 2 }): Day told(count: Int): String }
  type Subscription { a: Int @kafka(topic: "a") }
  input Box { size: Int! = 1 name: String = "box" }
  scalar Day`;

/** A scalar with functions by the names that graphql-js 17 has for them. */
const Day = Object.assign(new GraphQLScalarType({ name: 'Day' }), {
  coerceOutputValue: (value: unknown) => `out ${String(value)}`,
  coerceInputValue: (value: unknown) => `value ${String(value)}`,
  coerceInputLiteral: (node: { readonly value?: unknown }) => `literal ${String(node.value)}`,
});

/** Results of an operation by graphql-js and by compiled code, and the `info` and arguments of its resolver. */
async function runBoth(query: string, variables: Record<string, unknown> = {}) {
  const seen: { readonly args: unknown; readonly info: GraphQLResolveInfo }[] = [];
  const note = (_: unknown, args: object, __: unknown, info: GraphQLResolveInfo) => {
    seen.push({ args: JSON.parse(JSON.stringify(args)), info });
    return (args as { day?: unknown }).day ?? 'none';
  };
  const schema = schemaOf(SDL, { Day, Query: { echo: note, told: note } });
  const document = parse(query);
  const operation = new Operation(
    { key: query, document, bytes: 0, schema },
    document.definitions[0] as OperationDefinitionNode,
  );
  const data: unknown[] = [];
  for (const jitAfterUses of [0, 1]) {
    const executor = new Executor(schema, { jitAfterUses });
    executor.prepare(operation);
    const input = { rootValue: undefined, context: {}, variables };
    const result = await executor.execute(executor.planOf(operation), input);
    assert.deepEqual(result.errors, undefined);
    data.push({ ...result.data });
  }
  return { data, seen };
}

describe('graphql-js 16 and 17', () => {
  it('call the functions of a scalar by the names of either', async () => {
    assert.deepEqual((await runBoth('query ($day: Day) { echo(day: $day) }', { day: 1 })).data, [
      { echo: 'out value 1' },
      { echo: 'out value 1' },
    ]);
    assert.deepEqual((await runBoth('{ echo(day: "2") }')).data, [
      { echo: 'out literal 2' },
      { echo: 'out literal 2' },
    ]);
  });

  it('give compiled code the defaults of the SDL', async () => {
    const { seen } = await runBoth('{ echo }');
    const args = { count: 3, box: { size: 2, name: 'box' } };
    assert.deepEqual(
      seen.map((one) => one.args),
      [args, args],
    );
  });

  it('give resolvers of compiled code the same members of `info`', async () => {
    const { seen } = await runBoth('query ($count: Int = 4) { told(count: $count) }');
    const [interpreted, compiled] = seen.map(({ info }) => info);
    const members = Object.keys(compiled!).filter((name) => name !== 'isCompiled' && name !== 'hasLateArguments');
    assert.deepEqual(members.sort(), Object.keys(interpreted!).sort());
    const [its, theirs] = [interpreted!, compiled!].map(
      ({ variableValues: { coerced, ...others } }) => coerced ?? others,
    );
    assert.deepEqual({ ...its }, { ...theirs });
  });
});
