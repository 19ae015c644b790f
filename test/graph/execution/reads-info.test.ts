import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayReadInfo } from '../../../src/graph/execution/reads-info.ts';

/** Written as text: what compiles the tests could write them in another way. */
function functionOf(text: string): () => unknown {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  return new Function(`return ${text}`)() as () => unknown;
}

describe('mayReadInfo', () => {
  for (const text of [
    '() => 1',
    'source => source.id',
    'async source => source.id',
    '(source) => source.id',
    'async (source, args) => args.id',
    '(source, args, context) => context.connection.id',
    '(source, { id }, { connection: { claims } }) => [id, claims]',
    'function (source, args, context) { return context }',
    'function named(source) { return source }',
    'async function named(source) { return source }',
    '({ total(source, args, context) { return source } }).total',
    '({ async total(source) { return source } }).total',
    '(source, args, context,) => source',
  ]) {
    it(`says no: ${text}`, () => assert.equal(mayReadInfo(functionOf(text)), false));
  }

  for (const text of [
    '(source, args, context, info) => info',
    '(source, args, context, { operation }) => operation',
    '(source, args, context, info = {}) => info',
    '(source, args = {}, context, info) => info',
    '(...parameters) => parameters[3]',
    '(source, ...others) => others[2]',
    '(source, { id, ...others }) => others',
    '(source, [id]) => id',
    'function () { return arguments[3] }',
    'function () { return \\u0061rguments[3] }',
    'function () { return eval("argu" + "ments")[3] }',
    '((source, args, context, info) => info).bind(null)',
    '(function (source, args, context, info) { return info }).bind(null, {}, {}, {})',
    'new Proxy((source) => source, { apply: (target, self, parameters) => parameters[3] })',
    '({ ["total"](source) { return source } }).total',
  ]) {
    it(`does not say no: ${text}`, () => assert.equal(mayReadInfo(functionOf(text)), true));
  }
});
