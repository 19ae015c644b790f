import assert from 'node:assert/strict';
import { it } from 'node:test';
import { keyHint } from '../../src/tools/key-hint.ts';

it('names the path of a key that is deeper in the record, or written otherwise', () => {
  const order = { type: 'placed', data: { orderId: 7, lines: [{ sku: 'a' }], customer: { name: 'n', 'a.b': 1 } } };
  for (const [path, hint] of [
    ['orderId', '; did you mean "data.orderId"?'],
    ['data.order_id', '; did you mean "data.orderId"?'],
    ['order_id', '; did you mean "data.orderId"?'],
    ['data.ordrId', '; did you mean "data.orderId"?'],
    ['data', '; did you mean "data.orderId"?'],
    ['data.customer', '; did you mean "data.customer.name"?'],
    ['sku', ''],
    ['a.b', ''],
    ['elsewhere', ''],
  ] as const) {
    assert.equal(keyHint(order, path.split('.')), hint, path);
  }
  assert.equal(keyHint(['orderId'], ['orderId']), '');
  assert.equal(keyHint(null, ['orderId']), '');
});

it('is bounded for records of any size', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { id: i }]));
  assert.equal(keyHint(wide, ['last']), '');
  let deep: object = { id: 1 };
  for (let i = 0; i < 20_000; i++) deep = { deep };
  assert.equal(keyHint(deep, ['id']), '');
});
