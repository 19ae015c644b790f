import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PodConnections } from '../../../src/ops/admin/pod-connections.ts';
import { printRevocation } from '../../../src/gateway/identity/revocation.ts';
import { MAX_REVOCATIONS, Revocations } from '../../../src/gateway/identity/revocations.ts';
import type { Connection } from '../../../src/gateway/websocket/connection.ts';

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

it('a pod counts all connections for the question, also if the revocation itself arrives while they are closed', async (t) => {
  const revocations = new Revocations();
  t.after(() => revocations.close());
  const connections = Array.from({ length: 250 }, () => {
    const connection = {
      isEnded: false,
      knownClaims: { claims: { sub: 'ida' }, token: undefined },
      revoke: () => void (connection.isEnded = true),
    };
    return connection;
  });
  const counts: number[] = [];
  const pod = new PodConnections({
    connections: () => connections as unknown as Connection[],
    revocations,
    onRevoked: (count) => counts.push(count),
  });
  const atMs = Date.now();
  const text = printRevocation({ name: 'sub', value: 'ida', atMs, untilMs: atMs + 60_000, reason: '' });
  const answer = pod.answer({ revoke: text });
  pod.closeRevoked();
  assert.deepEqual((await answer).closed, 250);
  await pod.answer({ close: 'none' });
  assert.deepEqual(counts, [250, 0, 0]);
});

it('a pod scans its connections once for revocations that arrive together, and once more for those that arrive during the scan', async (t) => {
  const revocations = new Revocations();
  t.after(() => revocations.close());
  let scans = 0;
  const connections = [{ isEnded: false, knownClaims: undefined }] as unknown as Connection[];
  const pod = new PodConnections({
    connections: () => {
      if (scans++ === 0) for (let i = 0; i < 300; i++) pod.closeRevoked();
      return connections;
    },
    revocations,
    onRevoked: () => undefined,
  });
  for (let i = 0; i < 300; i++) pod.closeRevoked();
  await pod.answer({ close: 'none' });
  assert.equal(scans, 3, 'two for 600 revocations, one for the question');
});
