import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnFormat } from '../../../src/kafka/decoding/own-format.ts';
import { logLines } from '../../bus/log-lines.ts';
import { PayloadReader } from '../../../src/kafka/decoding/payload-reader.ts';

const VALUE = Buffer.from('orderId=7');

/** Reads a record of `load`'s format. */
type Load = ConstructorParameters<typeof OwnFormat>[1];

function read(load: Load, maxDepth = 8, { log } = logLines()) {
  const decoders = new Map([['orders', new OwnFormat('orders', load, log)]]);
  const reader = new PayloadReader({ limits: { maxBytes: 100, maxDepth }, keyPlaces: new Map(), decoders });
  return reader.read({ topic: 'orders' }, VALUE);
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
    for (const value of [undefined, () => 1])
      assert.deepEqual(await read(() => () => value), { poison: 'not_own_format' }, String(value));
    const decode = () => {
      throw new Error('no');
    };
    assert.deepEqual(await read(() => decode), { poison: 'not_own_format' });
  });

  it('says what is wrong with a decoder, instead of empty payloads', async () => {
    const cases: [unknown, RegExp][] = [
      [Promise.resolve({ id: 7 }), /returns a promise: it must return the object/],
      [new Map([['id', 7]]), /returns a Map or a Set: it must return objects and lists/],
      [{ tags: new Set(['a']) }, /returns a Map or a Set/],
    ];
    for (const [value, expected] of cases) {
      const logged = logLines();
      assert.deepEqual(await read(() => () => value, 8, logged), { poison: 'not_own_format' });
      assert.equal(logged.lines.length, 1);
      assert.match(JSON.stringify(logged.lines[0]), expected);
    }
    const decoder = ((value: Buffer) => ({ bytes: value?.length })) as unknown as Load;
    await assert.rejects(read(decoder), /could not be loaded: it must be a function that returns the decoder/);
  });

  it('waits for no load for longer than 500 ms at once, and has it for the next try', async () => {
    let open!: () => void;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const format = new OwnFormat('orders', () => opened.then(() => () => ({})), logLines().log);
    await assert.rejects(Promise.resolve(format.of()), { message: 'the format is being loaded', isPending: true });
    open();
    assert.equal(typeof (await format.of()), 'function');
  });

  it('logs where a decoder threw, and nothing of the record', async () => {
    const logged = logLines();
    const decode = (value: Buffer) => JSON.parse(`secret ${value.toString()}`) as unknown;
    assert.deepEqual(await read(() => decode, 8, logged), { poison: 'not_own_format' });
    const line = JSON.stringify(logged.lines);
    assert.match(line, /SyntaxError at /);
    assert.ok(!line.includes('secret') && !line.includes('orderId'), line);
  });

  it('gives a whole number that a double cannot hold as its text', async () => {
    assert.deepEqual(await read(() => () => ({ id: 7n, large: 2n ** 64n })), {
      payload: { id: 7, large: '18446744073709551616' },
    });
  });

  it('is loaded once, and again if that has failed', async () => {
    let loads = 0;
    const format = new OwnFormat(
      'orders',
      () => {
        if (++loads === 1) throw new Error('away');
        return () => ({});
      },
      logLines().log,
    );
    await assert.rejects(Promise.resolve(format.of()), /the format could not be loaded: away$/);
    await Promise.all([format.of(), format.of()]);
    assert.equal(typeof format.of(), 'function');
    assert.equal(loads, 2);
  });
});
