import assert from 'node:assert/strict';
import { it } from 'node:test';

interface Loaders {
  seller: Promise<string>;
  venue?: number;
}

it('has the type of its literal, in files that the project compiles', async () => {
  const inferred = Proxy.lazy({ count: 1, name: 'crier' });
  const sum: number = inferred.count + 1;
  const declared = Proxy.lazy<Loaders>({ seller: Promise.resolve('seller') });
  // @ts-expect-error: a key that Loaders does not have
  const wrong = Proxy.lazy<Loaders>({ seller: Promise.resolve('seller'), nobody: 1 });
  assert.equal(sum, 2);
  assert.equal(await declared.seller, 'seller');
  assert.equal(await wrong.seller, 'seller');
});
