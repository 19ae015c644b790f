import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serverFinding } from '../../src/check/redis-check.ts';

/** What Redis replies to HELLO. */
const hello = (version: string) => ['server', 'redis', 'version', version, 'proto', 2, 'mode', 'standalone'];

describe('serverFinding', () => {
  for (const version of ['6.0.16', '6.1.0']) {
    it(`refuses Redis ${version} and names the oldest version that crier can use`, () => {
      assert.deepEqual(serverFinding('redis:6379', hello(version)), {
        status: 'failed',
        text: `Redis: redis:6379 has version ${version}; use 6.2 or later`,
      });
    });
  }

  for (const version of ['6.2.0', '7.0.15', '10.0.1']) {
    it(`accepts Redis ${version}`, () => {
      assert.deepEqual(serverFinding('redis:6379', hello(version)), {
        status: 'ok',
        text: `Redis: connected to redis:6379, version ${version}`,
      });
    });
  }

  it('accepts a server that refuses HELLO, whose version is unknown', () => {
    assert.deepEqual(serverFinding('redis:6379', []), { status: 'ok', text: 'Redis: connected to redis:6379' });
  });
});
