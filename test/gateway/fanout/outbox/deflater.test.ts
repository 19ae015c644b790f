import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Deflater } from '../../../../src/gateway/fanout/outbox/deflater.ts';
import { ResultBytes } from '../../../../src/gateway/fanout/outbox/frame.ts';
import type { Message } from '../../../../src/gateway/fanout/outbox/frame.ts';
import { framesOf, readFrames } from './inflated-frames.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';

const nextPrefix = (id: string) => TRANSPORT_WS.prefixOf(id);

const MIN_BYTES = 100;

/** JSON of `bytes` bytes that compresses well. */
function jsonOf(bytes: number): string {
  const text = `{"data":{"items":[${'{"amount":1,"currency":"EUR"},'.repeat(bytes / 20)}`;
  return `${text.slice(0, bytes - 1)}}`;
}

function resultOf(text: string, isShared = true): ResultBytes {
  const middle = text.length >> 1;
  const result = new ResultBytes([Buffer.from(text.slice(0, middle)), Buffer.from(text.slice(middle))]);
  result.isShared = isShared;
  return result;
}

function messageOf(deflater: Deflater, result: ResultBytes, id = '1'): Message {
  const prefix = nextPrefix(id);
  return { prefix, result: deflater.deflated(result, prefix.length) };
}

describe('Deflater', () => {
  it('gives every client the same text as without compression: random ids and results', () => {
    const json = fc.jsonValue().map((data) => JSON.stringify({ data }));
    const repeated = fc.tuple(json, fc.integer({ min: 1, max: 200 })).map(([text, times]) => text.repeat(times));
    const message = fc.record({
      id: fc.string({ unit: 'binary' }),
      text: fc.oneof(json, repeated),
      isShared: fc.boolean(),
    });
    const deflater = new Deflater(1);
    let compressed = 0;
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
        const results = messages.map(({ text, isShared }) => resultOf(text, isShared));
        const frames = framesOf(messages.map(({ id }, i) => messageOf(deflater, results[i]!, id)));
        const read = readFrames(frames);
        compressed += read.filter(({ isDeflated }) => isDeflated).length;
        assert.deepEqual(
          read.map(({ text }) => text),
          messages.map(({ id, text }) => `${nextPrefix(id).toString()}${text}`),
        );
      }),
      { numRuns: 300 },
    );
    assert.ok(compressed > 50, `only ${compressed} messages were compressed`);
  });

  it('compresses a shared result once, whatever the ids of its subscriptions', () => {
    const deflater = new Deflater(MIN_BYTES);
    const result = resultOf(jsonOf(2000));
    const ids = ['a', 'b', 'a longer id', '💬'];
    const messages = ids.map((id) => messageOf(deflater, result, id));
    for (const message of messages) assert.equal(message.result, messages[0]!.result);
    assert.equal(deflater.inputBytes, 2000);
    assert.equal(deflater.outputBytes, messages[0]!.result.length);
    assert.deepEqual(
      readFrames(framesOf(messages)).map(({ text }) => text),
      ids.map((id) => `${nextPrefix(id).toString()}${jsonOf(2000)}`),
    );
  });

  it('compresses a shared result from the threshold on, and that of one connection from 8 times the threshold', () => {
    const deflater = new Deflater(MIN_BYTES);
    const isDeflated = (bytes: number, isShared: boolean) =>
      messageOf(deflater, resultOf(jsonOf(bytes), isShared)).result.isDeflated;
    assert.deepEqual(
      [MIN_BYTES - 1, MIN_BYTES].map((bytes) => isDeflated(bytes, true)),
      [false, true],
    );
    assert.deepEqual(
      [8 * MIN_BYTES - 1, 8 * MIN_BYTES].map((bytes) => isDeflated(bytes, false)),
      [false, true],
    );
  });

  it('leaves a result as it is that would not become smaller', () => {
    const deflater = new Deflater(1);
    const result = resultOf('0123456789abcdefghijklmnopqrstuvwxyz');
    const message = messageOf(deflater, result);
    assert.equal(message.result, result);
    assert.equal(readFrames(framesOf([message]))[0]!.isDeflated, false);
  });

  it('leaves a message as it is whose prefix is longer than one stored block', () => {
    const deflater = new Deflater(MIN_BYTES);
    const result = resultOf(jsonOf(2000));
    const overhead = nextPrefix('').length;
    for (const [bytes, isDeflated] of [
      [65_535, true],
      [65_536, false],
    ] as const) {
      const id = 'x'.repeat(bytes - overhead);
      const [read] = readFrames(framesOf([messageOf(deflater, result, id)]));
      assert.deepEqual([read!.isDeflated, read!.text.length], [isDeflated, bytes + 2000]);
    }
  });

  it('writes no stored block for a message without a prefix', () => {
    const result = new Deflater(MIN_BYTES).deflated(resultOf(jsonOf(2000)), 0);
    const [read] = readFrames(framesOf([{ prefix: Buffer.alloc(0), result }]));
    assert.deepEqual([read!.text, read!.bytes], [jsonOf(2000), result.length]);
  });

  it('compresses texts beyond its window, and holds no more memory than the compressed bytes', () => {
    const result = new Deflater(MIN_BYTES).deflated(resultOf(jsonOf(1_000_000)), 50);
    const [read] = readFrames(framesOf([{ prefix: Buffer.alloc(0), result }]));
    assert.equal(read!.text, jsonOf(1_000_000));
    // Node takes small buffers from a pool, of 8 KB in Node 20, 64 KB in Node 24 and 64 bytes more in Node 26.
    const held = result.pieces[0]!.buffer.byteLength;
    const pool = Buffer.from('x').buffer.byteLength;
    assert.ok(held <= Math.max(result.length, pool), `${held} bytes hold ${result.length}`);
  });
});

describe('Deflater, for clients that keep their window', () => {
  const textOf = (event: number) => `${jsonOf(1900).slice(0, -1)},"version":${1_000_000 + event}}`;
  const unique = Array.from({ length: 200 }, (_, i) => `"field_${i}":${(i * 7919) % 1000}`).join(',');

  it('refers to the shared result before, once for all subscriptions with ids of the same length', () => {
    const deflater = new Deflater(MIN_BYTES);
    const [one, two] = [1, 2].map((version) => resultOf(`{"data":{${unique},"version":${version}}}`));
    const before = deflater.deflated(one!, 50);
    assert.ok(before.length > 500);
    const forms = ['a', 'b', 'cc'].map((id) => deflater.deflated(two!, nextPrefix(id).length, before.textNumber));
    assert.ok(forms[0]!.length < 60, `${forms[0]!.length} bytes`);
    assert.equal(forms[0], forms[1]);
    assert.notEqual(forms[0], forms[2]);
    assert.equal(deflater.deflated(two!, 50).textNumber, forms[0]!.textNumber, 'all forms have one text');
    assert.ok(deflater.deflated(two!, 50, 0).length > 500, 'without a text before it refers to nothing');
  });

  it('gives random connections, which join at random events and miss some, the texts that were sent', () => {
    const step = fc.record({
      event: fc.nat(30),
      isShared: fc.boolean(),
      isTiny: fc.boolean(),
      receivers: fc.subarray([0, 1, 2, 3]),
    });
    let referring = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 40 }), (steps) => {
        const deflater = new Deflater(MIN_BYTES);
        const connections = ['a', 'b', 'long id', '💬'].map((id) => ({
          prefix: nextPrefix(id),
          window: { bytes: Buffer.from('') },
          before: 0,
        }));
        for (const { event, isShared, isTiny, receivers } of steps) {
          const text = isTiny ? `{"data":${event}}` : textOf(event);
          const result = resultOf(text, isShared);
          for (const index of receivers) {
            const connection = connections[index]!;
            const { prefix, window, before } = connection;
            const sent = deflater.deflated(result, prefix.length, before);
            if (sent.isDeflated) connection.before = sent.textNumber;
            if (before > 0 && sent.length < 40 && !isTiny) referring++;
            const [read] = readFrames(framesOf([{ prefix, result: sent }]), window);
            assert.equal(read!.text, prefix.toString() + text);
          }
        }
      }),
      { numRuns: 200 },
    );
    assert.ok(referring > 100, `only ${referring} results referred to another`);
  });

  it('refers to no text that it has forgotten, and makes few forms of a result', () => {
    const deflater = new Deflater(MIN_BYTES);
    const results = Array.from({ length: 600 }, (_, i) => resultOf(`{"data":{${unique},"version":${i}}}`));
    const sent = results.map((result) => deflater.deflated(result, 50));
    const last = resultOf(`{"data":{${unique},"version":"last"}}`);
    const formAfter = (i: number) => deflater.deflated(last, 50, sent[i]!.textNumber);
    assert.equal(formAfter(0), deflater.deflated(last, 50));
    const forms = new Set(Array.from({ length: 100 }, (_, i) => formAfter(500 + i)));
    assert.equal(forms.size, 5);
  });

  it('remembers no text that is longer than half the window, or no UTF-8', () => {
    const deflater = new Deflater(MIN_BYTES);
    for (const [text, isRemembered] of [
      [jsonOf(16_384), true],
      [jsonOf(16_385), false],
    ] as const)
      assert.equal(deflater.deflated(resultOf(text), 50).textNumber > 0, isRemembered);
    const bytes = new ResultBytes([Buffer.alloc(2000, 0xff)]);
    bytes.isShared = true;
    assert.equal(deflater.deflated(bytes, 50).textNumber, 0);
  });
});
