import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError, buildSchema, execute, parse } from 'graphql';
import type { ExecutionResult } from 'graphql';
import { maskErrors } from '../../../src/graph/execution/error-mask.ts';
import { UnfitValues } from '../../../src/graph/execution/unfit-values.ts';
import { logLines } from '../../bus/log-lines.ts';

const SCHEMA = buildSchema('type Query { kind: Kind number(n: Int): Int } enum Kind { OPEN GONE_BY }');

/** The `problems` of the lines for these results of `{ kind number }`. */
function problemsOf(...roots: object[]): unknown[] {
  const { log, lines } = logLines();
  const unfit = new UnfitValues(SCHEMA, log);
  for (const rootValue of roots) {
    const result = execute({ schema: SCHEMA, document: parse('{ kind number }'), rootValue }) as ExecutionResult;
    maskErrors(result, assert.fail, (message, path) => unfit.report(message, `Query.${path!.join('.')}`));
  }
  return lines.map(({ field, problems }) => [field, problems]);
}

describe('UnfitValues', () => {
  it('names the field, the value, the enum that does not have it and the nearest value that it has, once in a window for each field', () => {
    const problem =
      '"OPEM" is not in the enum Kind (OPEN, GONE_BY); add it there, correct the record, or give the field a resolver; did you mean "OPEN"?';
    assert.deepEqual(problemsOf({ kind: 'OPEM' }, { kind: 'OTHER' }), [['Query.kind', [problem]]]);
    assert.match(String(problemsOf({ kind: 'x'.repeat(1000) })), /,"x{59}… is not in the enum/);
    assert.match(String(problemsOf({ kind: 7 })), /,7 is not in the enum Kind/);
  });

  it('shows no other value: of an enum no object, of another type nothing', () => {
    const secret = { password: 'hunter2' };
    for (const value of [secret, [secret]]) {
      const text = String(problemsOf({ kind: value, number: value }));
      assert.match(
        text,
        /an object or a list is not in the enum Kind.*the value does not fit the type Int; change the type of the field/s,
      );
      assert.doesNotMatch(text, /hunter2|password/);
    }
  });

  it('is not told of errors of resolvers, nor of what a client sent', () => {
    const errors = [
      new GraphQLError('gone', { originalError: new GraphQLError('gone') }),
      new GraphQLError('Int cannot represent x', { originalError: new Error('Int cannot represent x') }),
    ];
    maskErrors({ errors }, () => 'id', assert.fail);
    const sent = execute({
      schema: SCHEMA,
      document: parse('query ($n: Int = 1) { number(n: "x") }'),
      rootValue: { number: 1 },
    }) as ExecutionResult;
    assert.equal(sent.errors?.length, 1);
    maskErrors(sent, () => 'id', assert.fail);
  });
});
