import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildSchema, execute, parse } from 'graphql';
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';

/** Values that a resolver may throw, of which none has a text. */
const THROWN = {
  'an object without a prototype': Object.create(null) as object,
  'a symbol': Symbol('secret'),
  'an object whose message is one': { message: Object.create(null) as object },
  'an object whose conversion fails': {
    toString() {
      throw new Error('secret');
    },
  },
};

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
      });
    }
  }
});
