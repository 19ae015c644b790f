import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deadLetterLine } from '../../src/tools/dead-letter-line.ts';

it('shows a dead letter on one line, without the control and format characters of its headers and key', () => {
  const hostile = '\u001b[2J\n\u009b1A\u202E';
  const facts = { topic: hostile, partition: 0, offset: '7', reason: hostile, valueBytes: 12, isPartial: false };
  const record = { key: Buffer.from(hostile), value: null, timestamp: 1000, offset: 1, attributes: 0, headers: {} };
  const shown = String.raw`\u001b[2J\u000a\u009b1A\u202e`;
  const key = String.raw`"\u001b[2J\n\u009b1A\u202e"`;
  assert.equal(
    deadLetterLine({ facts, record } as unknown as Parameters<typeof deadLetterLine>[0], 5000),
    `${shown}/0/7 ${shown} 4 s ago, 12 bytes, key ${key}`,
  );
});
