import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Command } from 'ioredis';
import { CommandWriter, WrittenCommand } from '../../../src/bus/redis/command-writer.ts';

/** What ioredis writes for the same arguments. */
function expected([name, ...args]: readonly string[]): Buffer {
  return Buffer.from(new Command(name!, args).toWritable({}));
}

describe('CommandWriter', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.string());
  const number = fc.oneof(fc.nat({ max: Number.MAX_SAFE_INTEGER }), fc.nat(9), fc.integer(), fc.double());

  it('writes what ioredis writes, command after command', () => {
    const writer = new CommandWriter();
    const part = fc.oneof(
      text,
      fc.tuple(number, number),
      fc.string({ unit: 'grapheme' }).map((one) => Buffer.from(one)),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        writer.begin(parts.length + 1);
        writer.text('evalsha');
        for (const each of parts) {
          if (typeof each === 'string') writer.text(each);
          else if (Buffer.isBuffer(each)) writer.buffer(each);
          else writer.pair(...each);
        }
        const texts = parts.map((each) => (Array.isArray(each) ? each.join(' ') : String(each)));
        assert.deepEqual(Buffer.from(writer.bytes), expected(['evalsha', ...texts]));
      }),
      { numRuns: 2_000 },
    );
  });

  it('grows at any byte of a command, and keeps the bytes written before', () => {
    for (const length of [65_480, 65_500, 65_520, 65_536, 200_000, 3_000_000]) {
      for (const filler of ['x', 'é']) {
        const writer = new CommandWriter();
        const long = filler.repeat(length);
        writer.begin(4);
        writer.text(long);
        writer.pair(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
        writer.text('');
        writer.text(long);
        const pair = `${Number.MAX_SAFE_INTEGER} ${Number.MAX_SAFE_INTEGER}`;
        assert.ok(writer.bytes.equals(expected([long, pair, '', long])));
      }
    }
  });

  it('has its bytes sent unchanged by ioredis, and shows none of them in the error of a failed command', () => {
    const writer = new CommandWriter();
    writer.begin(1);
    writer.text('ping');
    const command = new WrittenCommand('ping', writer.bytes);
    assert.equal(String(command.toWritable()), '*1\r\n$4\r\nping\r\n');
    assert.deepEqual(command.args, []);
  });
});
