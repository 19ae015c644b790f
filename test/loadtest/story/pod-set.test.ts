import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podSets, podSetOf, withSettings } from '../../../loadtest/story/pods/pod-set.ts';

describe('podSets', () => {
  it('begin with a pod that serves sockets and contain a worker', () => {
    for (const { name, pods } of podSets) {
      const roles = pods.map(({ environment }) => environment!['ROLE']!);
      assert.match(roles[0]!, /^(all|gateway)$/, name);
      assert.ok(roles.includes('all') || roles.includes('worker'), name);
      assert.deepEqual(
        pods.map(({ isWorkerOnly = false }) => isWorkerOnly),
        roles.map((role) => role === 'worker'),
        name,
      );
    }
  });

  it('are found by name', () => {
    assert.equal(podSetOf('two-workers').pods.length, 3);
    assert.throws(() => podSetOf('three'), /--pods: expected one, apart, slow-gateway, two-workers, got "three"/);
  });

  it('apply a setting to all pods', () => {
    const { pods } = withSettings(podSetOf('apart'), { DISABLE: 'flow-control' });
    assert.deepEqual(
      pods.map(({ environment }) => [environment!['ROLE'], environment!['DISABLE']]),
      [
        ['gateway', 'flow-control'],
        ['worker', 'flow-control'],
      ],
    );
  });
});
