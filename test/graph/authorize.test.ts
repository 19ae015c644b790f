import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError } from 'graphql';
import type { ExecutionContext } from '../../src/graph/context/context.ts';
import { refusalOf } from '../../src/graph/authorize.ts';
import type { Authorize } from '../../src/graph/graph-parts.ts';

const context = {} as ExecutionContext;
const ask = (authorize?: Authorize) =>
  refusalOf(
    { authorizers: new Map(authorize ? [['orders', authorize]] : []) },
    { name: 'orders', extensions: {} },
    { id: '7' },
    context,
  );

describe('refusalOf', () => {
  it('allows a field without authorize, and any result except false', async () => {
    assert.equal(await ask(), undefined);
    assert.equal(await ask(() => undefined), undefined);
    assert.equal(await ask(async () => Promise.resolve(true)), undefined);
  });

  it('passes the arguments and the context', async () => {
    await ask((args, given) => {
      assert.deepEqual(args, { id: '7' });
      assert.equal(given, context);
    });
  });

  it('refuses with FORBIDDEN for false and for a promise of false', async () => {
    for (const authorize of [() => false, async () => Promise.resolve(false)] as const) {
      const error = await ask(authorize);
      assert.equal(error?.message, 'Not allowed to subscribe to "orders".');
      assert.equal(error.extensions['code'], 'FORBIDDEN');
    }
  });

  it('passes on a GraphQLError, and masks any other error', async () => {
    const own = new GraphQLError('Pay first', { extensions: { code: 'UNPAID' } });
    assert.equal(await ask(() => Promise.reject(own)), own);
    const plain = await ask(() => Promise.reject(new GraphQLError('Pay first')));
    assert.deepEqual([plain?.message, plain?.extensions['code']], ['Pay first', 'FORBIDDEN']);
    const secret = new Error('pg://user:pass@db failed');
    const masked = await ask(() => {
      throw secret;
    });
    assert.equal(masked?.message, 'Not allowed to subscribe to "orders".');
    assert.equal(masked.originalError, secret);
    assert.doesNotMatch(JSON.stringify(masked), /pg:/);
  });
});
