import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError, GraphQLScalarType, buildSchema, execute, parse } from 'graphql';
import type * as graphql from 'graphql';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';
import { schemaOf } from '../support/corpus.ts';

/** The package has its code twice, as CommonJS and as ES modules: by its URL, because 17 exports neither by a name of its own. */
const OTHER_COPY = import.meta
  .resolve('graphql')
  .replace(/index\.m?js$/, (file) => (file === 'index.js' ? 'index.mjs' : 'index.js'));

/** Values that a resolver may throw, of which none has a text for clients. */
const THROWN = {
  'an object without a prototype': Object.create(null) as object,
  'a symbol': Symbol('secret'),
  'an object whose message is one': { message: Object.create(null) as object },
  'an error with a path of its own': Object.assign(new Error('secret'), { path: ['secret'] }),
  'an object whose conversion fails': {
    toString() {
      throw new Error('secret');
    },
  },
};

const other = (await import(OTHER_COPY)) as typeof graphql;

const document = parse('{ field }');

const EXECUTIONS: Readonly<Record<string, (schema: GraphQLSchema) => unknown>> = {
  interpreted: (schema) => execute({ schema, document }),
  compiled: (schema) => {
    const query = compileQuery(schema, document);
    assert.ok(isCompiledQuery(query));
    return query.query({}, {}, {});
  },
};

describe('maskErrors', () => {
  for (const [mode, run] of Object.entries(EXECUTIONS)) {
    for (const [name, value] of Object.entries(THROWN)) {
      it(`hides ${name} that a resolver has thrown: ${mode}`, async () => {
        const schema = buildSchema('type Query { field: String }');
        schema.getQueryType()!.getFields()['field']!.resolve = () => {
          throw value as Error;
        };
        const result = (await run(schema)) as ExecutionResult;
        const hidden: unknown[] = [];
        const masked = maskErrors(result, (error) => `${hidden.push(error)}`);
        assert.equal(masked.errors?.length, 1);
        assert.equal(masked.errors[0]!.message, 'Internal server error');
        assert.deepEqual(masked.errors[0]!.extensions, { code: 'INTERNAL_SERVER_ERROR', id: '1' });
        assert.equal(hidden.length, 1);
        assert.doesNotMatch(JSON.stringify(masked), /secret/);
      });
    }

    it(`shows a GraphQLError of another copy of graphql-js: ${mode}`, async () => {
      const extensions = { code: 'SOLD_OUT', left: 0 };
      assert.ok(!(new other.GraphQLError('') instanceof GraphQLError));
      const schema = buildSchema('type Query { field: String }');
      schema.getQueryType()!.getFields()['field']!.resolve = () => {
        throw new other.GraphQLError('Sold out', { extensions });
      };
      const { errors } = maskErrors((await run(schema)) as ExecutionResult, assert.fail);
      assert.deepEqual(
        errors?.map((error) => [error.message, error.path, error.extensions]),
        [['Sold out', ['field'], extensions]],
      );
    });
  }
});

describe('a scalar of another copy of graphql-js', () => {
  it('serializes and parses values, and its GraphQLErrors reach clients', async () => {
    const Money = new other.GraphQLScalarType<string>({
      name: 'Money',
      serialize: (value) => `${String(value)} EUR`,
      parseValue: (value) => {
        if (typeof value === 'number') return String(value);
        throw new other.GraphQLError('Money is a number');
      },
    });
    assert.ok(!(Money instanceof GraphQLScalarType));
    const schema = schemaOf(
      'type Query { echo(money: Money): Money } type Subscription { a: Int @kafka(topic: "a") } scalar Money',
      {
        Money,
        Query: { echo: (_: unknown, { money }: { money: string }) => money },
      },
    );
    const run = (money: unknown) =>
      execute({ schema, document: parse('query ($money: Money) { echo(money: $money) }'), variableValues: { money } });
    assert.deepEqual({ ...(await run(5)).data }, { echo: '5 EUR' });
    assert.match((await run('x')).errors![0]!.message, /Money is a number/);
  });
});
