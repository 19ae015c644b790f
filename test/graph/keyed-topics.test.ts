import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keyedTopics } from '../../src/graph/keyed-topics.ts';
import { KEY_PART, headerPart, keyPathPart } from '../../src/graph/record-parts.ts';
import type { Binding } from '../../src/graph/schema/binding.ts';

const match = (path: string) => [{ arg: 'id', path, isOptional: false }];
const of = (parts: Partial<Binding>): Binding => ({
  field: 'order',
  topics: ['orders'],
  match: match('id'),
  where: [],
  payload: [],
  isShared: true,
  ...parts,
});

describe('keyedTopics', () => {
  it('has the topics of fields whose match, tombstones, state or parts need the key', () => {
    const state = { seconds: 0 };
    const needing: readonly Partial<Binding>[] = [
      { match: match(KEY_PART) },
      { match: match(keyPathPart('id')) },
      { tombstone: 'NULL' },
      { state },
      { match: [], where: [{ claim: 'tenant', path: 'tenant' }], state },
      { record: { key: true, headers: [] } },
      { envelope: 'DEBEZIUM' },
    ];
    for (const parts of needing) assert.deepEqual([...keyedTopics([of({}), of({ ...parts, topics: ['t'] })])], ['t']);
  });

  it('has no other topic', () => {
    const others: readonly Partial<Binding>[] = [
      {},
      { match: match(headerPart('tenant')), tombstone: 'NULL' },
      { match: [], tombstone: 'COMPLETE', state: { seconds: 0 } },
      { record: { key: false, headers: ['tenant'] } },
    ];
    assert.deepEqual([...keyedTopics(others.map(of))], []);
  });
});
