import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { NeutralScope } from '../../../src/graph/context/neutral-scope.ts';

describe('NeutralScope', () => {
  it('hides the stores of its caller, and shows those entered before it was created', () => {
    const store = new AsyncLocalStorage<string>();
    const [outer, inner] = store.run('at first', () => {
      const scope = new NeutralScope();
      return store.run('later', () => [scope.run(() => store.getStore(), undefined), store.getStore()]);
    });
    assert.deepEqual([outer, inner], ['at first', 'later']);
  });

  it('hides a store that its code enters from its caller and from other code, even after promises and timers', async () => {
    const store = new AsyncLocalStorage<string>();
    const scope = new NeutralScope();
    const visit = async (user: string) => {
      const found = [store.getStore()];
      store.enterWith(user);
      await Promise.resolve();
      found.push(store.getStore());
      await new Promise((resolve) => setTimeout(resolve, 1));
      found.push(store.getStore());
      return found;
    };
    const visits = ['alice', 'bob'].map((user) => scope.run(visit, undefined, user));
    assert.equal(store.getStore(), undefined);
    assert.deepEqual(await Promise.all(visits), [
      [undefined, 'alice', 'alice'],
      [undefined, 'bob', 'bob'],
    ]);
  });

  it('returns the result of its code, rethrows its error, and passes `this` and the parameters', () => {
    const scope = new NeutralScope();
    const self = { factor: 2 };
    assert.equal(scope.run(function (this: typeof self, value: number) { return this.factor * value; }, self, 21), 42); // prettier-ignore
    assert.throws(() => scope.run(() => { throw new Error('of the code'); }, undefined), /of the code/); // prettier-ignore
  });
});
