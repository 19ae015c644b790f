import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import type { Cause } from './cause.ts';
import type { Stage } from './stage.ts';

const KEY = 'control:revocations';
/** How many are kept at most. */
const MAX = 20_000;

async function revoke({ pod }: Stage, value: string, duration: string): Promise<number> {
  const body = JSON.stringify({ claim: { name: 'user', value }, for: duration });
  return (await fetch(`${pod.admin}/admin/connections/revoke`, { method: 'POST', body })).status;
}

export const revocationCauses: readonly Cause[] = [
  {
    title: 'a revocation',
    metrics: ['crier_revocations', 'crier_connections_revoked_total', 'crier_revocations_behind'],
    run: async (stage, t) => {
      const socket = await stage.connect(t, { user: 'ida' });
      assert.equal(await stage.value('crier_revocations_behind'), 0);
      await stage.moves(
        {
          crier_revocations: 1,
          crier_connections_revoked_total: 1,
          'crier_connections_closed_total{code="4403"}': 1,
          crier_connections: -1,
        },
        () => revoke(stage, 'ida', '2s'),
      );
      assert.equal((await socket.expectClose()).code, 4403);
    },
  },
  {
    title: 'more revocations than are kept',
    metrics: ['crier_revocations_refused_total'],
    run: async (stage) => {
      const client = new Redis(stage.redis.url);
      const key = `${stage.topic}:${KEY}`;
      const ends = Date.now() + 3_600_000;
      const texts = Array.from({ length: MAX }, (_, i) => [ends, String(i)]).flat();
      await client.zadd(key, ...texts);
      try {
        await stage.moves({ crier_revocations_refused_total: 1 }, async () => {
          assert.equal(await revoke(stage, 'bob', '1s'), 507);
        });
      } finally {
        await client.del(key);
        client.disconnect();
      }
    },
  },
];
