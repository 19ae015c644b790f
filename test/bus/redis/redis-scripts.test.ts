import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { CLUSTER_SCRIPTS, SERVER_SCRIPTS } from '../../../src/bus/redis/redis-scripts.ts';
import type { Script } from '../../../src/bus/redis/redis-scripts.ts';
import { redisServer } from '../../support/services.ts';

describe('the Lua scripts', () => {
  const scripts = [SERVER_SCRIPTS, CLUSTER_SCRIPTS].flatMap((all) => Object.entries(all) as [string, Script][]);
  for (const [name, { text, sha }] of scripts) {
    it(`compiles ${name} in Redis, under the SHA ${sha} by which it is called`, async (t) => {
      const client = new Redis((await redisServer(t)).url);
      t.after(() => client.disconnect());
      assert.equal(await client.script('LOAD', text), sha);
    });
  }
});
