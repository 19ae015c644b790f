import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EmbeddedTopics } from '../../../src/graph/embedded/embedded-topics.ts';

describe('EmbeddedTopics', () => {
  it('keeps the records of a pod that listens already until its worker connects them, in their order', async () => {
    const topics = new EmbeddedTopics();
    const values = ['1', '2', '3'];
    const appended = values.map((value) => topics.append('bids', { key: null, value: Buffer.from(value) }));
    const processed: string[] = [];
    topics.connect(({ value }) => Promise.resolve(void processed.push(String(value))));
    assert.deepEqual(
      (await Promise.all(appended)).map(({ offset }) => offset),
      [0, 1, 2],
    );
    assert.deepEqual(processed, values);
  });
});
