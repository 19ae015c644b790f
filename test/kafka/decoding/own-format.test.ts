import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnFormat } from '../../../src/kafka/decoding/own-format.ts';
import { PayloadReader } from '../../../src/kafka/decoding/payload-reader.ts';

const VALUE = Buffer.from('orderId=7');

/** Reads a record of `load`'s format. */
function read(load: ConstructorParameters<typeof OwnFormat>[0], maxDepth = 8) {
  const decoders = new Map([['orders', new OwnFormat(load)]]);
  const reader = new PayloadReader({ limits: { maxBytes: 100, maxDepth }, keyPlaces: new Map(), decoders });
  return reader.read('orders', VALUE);
}

describe('OwnFormat', () => {
  it('reads what the decoder returns as crier reads JSON: keys are renamed, and limits hold', async () => {
    const decode = (value: Buffer) => Object.fromEntries(new URLSearchParams(value.toString()));
    assert.deepEqual(await read(() => decode), { payload: { order_id: '7' } });
    assert.deepEqual(await read(() => Promise.resolve(decode)), { payload: { order_id: '7' } });
    assert.deepEqual(await read(() => () => ({ a: { b: 1 } }), 1), { poison: 'too_deep' });
    assert.deepEqual(await read(() => () => [1]), { poison: 'not_object' });
    assert.deepEqual(await read(() => () => ({ text: 'x'.repeat(100) })), { poison: 'too_large' });
  });

  it('refuses a record for which the decoder throws, or returns what JSON has not', async () => {
    for (const value of [undefined, 1n, () => 1])
      assert.deepEqual(await read(() => () => value), { poison: 'not_own_format' }, String(value));
    const decode = () => {
      throw new Error('no');
    };
    assert.deepEqual(await read(() => decode), { poison: 'not_own_format' });
  });

  it('is loaded once, and again if that has failed', async () => {
    let loads = 0;
    const format = new OwnFormat(() => {
      if (++loads === 1) throw new Error('away');
      return () => ({});
    });
    await assert.rejects(
      Promise.resolve(format.of()),
      /^SchemaUnavailableError: the format could not be loaded: away$/,
    );
    await Promise.all([format.of(), format.of()]);
    assert.equal(typeof format.of(), 'function');
    assert.equal(loads, 2);
  });
});
