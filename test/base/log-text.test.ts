import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { LogDestination } from '../../src/base/log-destination.ts';
import { createLog, logFormat } from '../../src/base/log.ts';
import type { Logger } from '../../src/base/log.ts';

const FACTS = { pod: 'vm', role: 'all', version: '1.2.3' };

/** What a log of this stream writes as text, with the time as 00:00:00. */
async function written(write: (log: Logger) => void, terminal: Partial<NodeJS.WriteStream> = {}): Promise<string> {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const destination = new LogDestination(Object.assign(stream, terminal));
  write(createLog('trace', FACTS, destination, 'text'));
  await new Promise<void>((resolve) => destination.flush(resolve));
  return text.replaceAll(/\d\d:\d\d:\d\d/g, '00:00:00');
}

describe('a log line as text', () => {
  it('has the time, the level, the message and the fields, without those of the pod', async () => {
    const fields = { groupId: 'crier-auction', partitions: { bids: [0, 1] }, path: 'a b', count: 2 };
    assert.equal(
      await written((log) => log.info(fields, 'joined the consumer group')),
      '00:00:00 info  joined the consumer group groupId=crier-auction partitions={"bids":[0,1]} path="a b" count=2\n',
    );
    assert.equal(
      await written((log) => log.warn({ process: 'gateway-1' }, 'late')),
      '00:00:00 warn  late process=gateway-1\n',
    );
  });

  it('has an error below it: its stack at the level error, else its message', async () => {
    const err = new TypeError('no such topic');
    err.stack = 'TypeError: no such topic\n    at subscribe (graph.ts:1:2)';
    assert.equal(
      await written((log) => log.error({ err }, 'failed')),
      '00:00:00 error failed\n  TypeError: no such topic\n      at subscribe (graph.ts:1:2)\n',
    );
    assert.equal(
      await written((log) => log.warn({ err, topic: 'bids' }, 'failed')),
      '00:00:00 warn  failed topic=bids\n  TypeError: no such topic\n',
    );
    assert.equal(
      await written((log) => log.warn({ err: { message: 'away' } }, 'failed')),
      '00:00:00 warn  failed\n  Error: away\n',
    );
    assert.equal(await written((log) => log.error({ err: 7 }, 'failed')), '00:00:00 error failed\n  7\n');
  });

  it('keeps the lines of a message together, and escapes hidden characters, whatever a record contains', async () => {
    const hostile = '\u001b[2J\u202e';
    const text = await written((log) => log.info({ [hostile]: hostile, err: new Error(hostile) }, `a\nb${hostile}`));
    assert.equal(
      text,
      '00:00:00 info  a\n  b\\u001b[2J\\u202e \\u001b[2J\\u202e="\\u001b[2J\\u202e"\n  Error: \\u001b[2J\\u202e\n',
    );
  });

  it('has colours on a terminal that shows them', async () => {
    const colours = { isTTY: true, hasColors: () => true };
    const text = await written((log) => log.warn({ a: 1 }, 'late'), colours);
    assert.equal(text, '\u001b[2m00:00:00\u001b[22m \u001b[33mwarn \u001b[39m late \u001b[2ma=1\u001b[22m\n');
    const plain = await written((log) => log.warn('late'), { isTTY: true, hasColors: () => false });
    assert.equal(plain, '00:00:00 warn  late\n');
  });
});

it('LOG_FORMAT=auto is text on a terminal, and JSON elsewhere', () => {
  const terminal = { isTTY: true } as NodeJS.WriteStream;
  const pipe = {} as NodeJS.WriteStream;
  assert.deepEqual([logFormat('auto', terminal), logFormat('auto', pipe)], ['text', 'json']);
  assert.deepEqual([logFormat('json', terminal), logFormat('text', pipe)], ['json', 'text']);
});
