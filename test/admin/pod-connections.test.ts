import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PodConnections } from '../../src/admin/pod-connections.ts';
import { printRevocation } from '../../src/identity/revocation.ts';
import { MAX_REVOCATIONS, Revocations } from '../../src/identity/revocations.ts';

it('a pod whose list is full closes what is authenticating, and refuses nobody later', async (t) => {
  const revocations = new Revocations();
  t.after(() => revocations.close());
  const revocationOf = (value: string) => {
    const atMs = Date.now();
    return { name: 'sub', value, atMs, untilMs: atMs + 60_000, reason: '' };
  };
  for (let i = 0; i < MAX_REVOCATIONS; i++) revocations.add(`${i}`, revocationOf(`user-${i}`));
  const pod = new PodConnections({ connections: () => [], revocations, onRevoked: () => undefined });
  const begunAt = performance.now();
  await pod.answer({ revoke: printRevocation(revocationOf('ida')) });
  const refusesSince = (since: number) =>
    revocations.refuses({ claims: { sub: 'ida' }, token: undefined }, { expiresAtMs: undefined, begunAt: since });
  assert.deepEqual([refusesSince(begunAt), refusesSince(performance.now() + 1)], [true, false]);
  assert.equal(revocations.size, MAX_REVOCATIONS);
});
