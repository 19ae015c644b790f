import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commitMetadata, parseCommitMetadata } from '../../../src/kafka/session/commit-metadata.ts';

describe('commit metadata', () => {
  it('reads the metadata that commitMetadata writes, and no other', () => {
    assert.deepEqual(parseCommitMetadata('crier:12'), { position: 12, startId: undefined });
    assert.deepEqual(parseCommitMetadata('crier:-1'), { position: -1, startId: undefined });
    assert.deepEqual(parseCommitMetadata('crier:start:1-b'), { position: -1, startId: '1-b' });
    for (const point of [
      { position: 12, startId: undefined },
      { position: -1, startId: '1-b' },
      { position: 12, startId: undefined, positions: '9.0.4' },
      { position: 12, startId: '1-b', positions: '9.0.4' },
      { position: 12, startId: '1-b' },
      { position: 12, startId: undefined, topicId: 'aB-_9' },
      { position: -1, startId: '1-b', topicId: 'aB-_9' },
      { position: 12, startId: '1-b', positions: '9.0.4', topicId: 'aB-_9' },
    ])
      assert.deepEqual(parseCommitMetadata(commitMetadata(point)), point);
    for (const metadata of [
      '',
      'crier:',
      'crier:start',
      'crier:start:',
      'crier:start:a b',
      'x crier:1',
      'crier:1x',
      'crier:1@',
      'crier:@a',
      'crier#:1',
      'crier#a',
    ])
      assert.equal(parseCommitMetadata(metadata), undefined);
  });
});
