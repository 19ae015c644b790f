import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { HISTORY, KEEP, LEASE, PUBLISH } from '../../../src/bus/redis/redis-scripts.ts';
import { redisServer } from '../../support/services.ts';

describe('the Lua scripts', () => {
  for (const [name, { text, sha }] of Object.entries({ LEASE, PUBLISH, HISTORY, KEEP })) {
    it(`compiles ${name} in Redis, under the SHA by which it is called`, async (t) => {
      const client = new Redis((await redisServer(t)).url);
      t.after(() => client.disconnect());
      assert.equal(await client.script('LOAD', text), sha);
    });
  }
});
