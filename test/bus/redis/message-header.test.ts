import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Coordinates } from '../../../src/bus/coordinates.ts';
import { parseMessage } from '../../../src/bus/redis/message-header.ts';
import { printTraceFields } from '../../../src/bus/trace-fields.ts';

const HEADER = /^@(\d+) (\d+) (-?\d+) (\d+)(?: ([\d-]+) ([\d-]+))?(?: [a-z]+=[!-~]*)*\n/;

/** What a message is, said with a regular expression. */
function expected(text: string): { payload: string; coordinates: Coordinates | undefined } {
  const header = HEADER.exec(text);
  if (!header) return { payload: text, coordinates: undefined };
  const [line, partition, offset, timestamp, epoch, entry, previous] = header;
  const numbers = {
    partition: Number(partition),
    offset: Number(offset),
    timestamp: Number(timestamp),
    epoch: Number(epoch),
  };
  const ids = entry && { entry, previous: previous === '-' ? undefined : previous };
  return { payload: text.slice(line.length), coordinates: asExact({ ...numbers, ...ids }) };
}

function parsed(message: Buffer) {
  const { payload, coordinates } = parseMessage(message);
  return { payload: payload.toString(), coordinates: coordinates && asExact(coordinates) };
}

/** Numbers are exact up to 2^53; one above it may round either way, and stands as Infinity. */
function asExact(coordinates: Coordinates): Coordinates {
  const exact = (n: number) => (Math.abs(n) <= Number.MAX_SAFE_INTEGER ? n : Infinity * Math.sign(n));
  const { partition, offset, timestamp, epoch } = coordinates;
  return {
    ...coordinates,
    partition: exact(partition),
    offset: exact(offset),
    timestamp: exact(timestamp),
    epoch: exact(epoch),
  };
}

const anyText = fc.string({ unit: 'binary' });

describe('parseMessage', () => {
  it('separates the header from the payload, which stays unchanged', () => {
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    const id = fc.tuple(number, fc.nat()).map(([ms, count]) => `${ms}-${count}`);
    const ids = fc.option(fc.record({ entry: id, previous: fc.option(id, { nil: undefined }) }), { nil: undefined });
    const timestamp = fc.oneof(number, fc.integer());
    fc.assert(
      fc.property(number, number, timestamp, number, ids, anyText, (p, o, t, e, kept, payload) => {
        const suffix = kept ? ` ${kept.entry} ${kept.previous ?? '-'}` : '';
        const coordinates = { partition: p, offset: o, timestamp: t, epoch: e, ...kept };
        assert.deepEqual(parsed(Buffer.from(`@${p} ${o} ${t} ${e}${suffix}\n${payload}`)), { payload, coordinates });
      }),
      { numRuns: 1_000 },
    );
  });

  it('recognises only a well-formed header, and takes any other text as the payload', () => {
    const token = fc.constantFrom(
      '@',
      '0',
      '17',
      '-5',
      '-',
      ' ',
      '\n',
      '1763730000000-0',
      'a',
      'é',
      '9007199254740993',
      'a=',
      'next=5,6',
    );
    const texts = fc.oneof(
      fc.array(token).map((tokens) => `@${tokens.join('')}`),
      anyText,
    );
    const between = fc.constantFrom(' ', ' ', ' ', ' ', '\n', '  ', '');
    const nearly = fc
      .array(fc.tuple(token, between), { minLength: 3, maxLength: 7 })
      .map((parts) => `@${parts.flat().join('')}`);
    fc.assert(
      fc.property(fc.oneof(texts, nearly), (text) => {
        assert.deepEqual(parsed(Buffer.from(text)), expected(Buffer.from(text).toString()));
      }),
      { numRuns: 20_000 },
    );
    for (const text of [
      '',
      '@',
      '{"a":"@0 1 2 3\\n"}',
      '@0 1 2\n{}',
      '@0 1 2 3{}',
      ' @0 1 2 3\n{}',
      '@a 1 2 3\n{}',
      '@-1 1 2 3\n{}',
      '@0 1 - 3\n{}',
      '@0 1 2 3 \n{}',
      '@0 1 2 3 4-0\n{}',
      '@0 1 2 3 4-0 \n{}',
      '@0 1 2 3 4-0 5-0 \n{}',
      '@0 1 2 3 next\n{}',
      '@0 1 2 3 next=5 6\n{}',
      '@0 1 2 3 next=5 \n{}',
      '@0 1 2 3 next=é\n{}',
      '@0 1 2 3 next=5 4-0 -\n{}',
      '@0 1 2 3 next=5',
      `@0 1 2 3 next=${'5'.repeat(5116)}\n{}`,
    ]) {
      assert.deepEqual(parsed(Buffer.from(text)), { payload: text, coordinates: undefined });
    }
    for (const text of [
      '@0 1 2 3\n',
      '@0 1 -2 3\n{}',
      '@0 1 2 3 4-0 -\n@',
      '@00 1 2 18446744073709551616\n{}',
      '@0 1 2 900719925474099317\n',
    ]) {
      assert.deepEqual(parsed(Buffer.from(text)), expected(text));
      assert.ok(parsed(Buffer.from(text)).coordinates);
    }
  });

  it('ignores fields that a later version has added', () => {
    const coordinates = { partition: 0, offset: 1, timestamp: 2, epoch: 3 };
    const kept = { ...coordinates, entry: '4-0', previous: '3-0' };
    for (const fields of ['next=', 'next=5 other=a=b', `next=${'5'.repeat(5114)}`]) {
      assert.deepEqual(parsed(Buffer.from(`@0 1 2 3 ${fields}\n{}`)), { payload: '{}', coordinates });
      assert.deepEqual(parsed(Buffer.from(`@0 1 2 3 4-0 3-0 ${fields}\n{}`)), { payload: '{}', coordinates: kept });
    }
  });

  it('reads the trace context of a sampled record', () => {
    const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isSampled: true };
    for (const context of [trace, { ...trace, state: 'vendor=a:b,other=c' }]) {
      const fields = printTraceFields(context);
      for (const ids of ['', ' 4-0 3-0'])
        assert.deepEqual(parsed(Buffer.from(`@0 1 2 3${ids}${fields} next=5\n{}`)).coordinates?.trace, context);
    }
  });

  it('reads what the message carries of its record, beside a trace context and unknown fields', () => {
    const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isSampled: true };
    const record = 'k'.repeat(4096);
    for (const ids of ['', ' 4-0 3-0']) {
      for (const fields of [` record=${record}`, `${printTraceFields(trace)} record=${record} next=5`]) {
        const { payload, coordinates } = parsed(Buffer.from(`@0 1 2 3${ids}${fields}\n{}`));
        assert.equal(payload, '{}');
        assert.equal(coordinates?.record, record);
        assert.deepEqual(coordinates.trace, fields.includes('trace') ? trace : undefined);
      }
    }
    assert.ok(!('record' in parsed(Buffer.from('@0 1 2 3 next=5\n{}')).coordinates!));
  });

  it('ignores a trace context that is malformed, or not sampled, and keeps the message', () => {
    const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    for (const value of [
      '',
      parent.replace('01', '1'),
      parent.slice(0, -2) + '00',
      parent.toUpperCase(),
      `${parent}-1`,
      `01${parent.slice(2)}`,
      parent.replace('00f067aa0ba902b7', '0000000000000000'),
      parent.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    ]) {
      const { payload, coordinates } = parsed(Buffer.from(`@0 1 2 3 traceparent=${value}\n{}`));
      assert.equal(payload, '{}');
      assert.deepEqual(coordinates, { partition: 0, offset: 1, timestamp: 2, epoch: 3 });
    }
  });

  it('does not copy the payload', () => {
    const message = Buffer.from('@0 1 2 3\n{"a":1}');
    const { payload } = parseMessage(message);
    assert.equal(payload.buffer, message.buffer);
    assert.equal(payload.byteOffset, message.byteOffset + 9);
  });
});
