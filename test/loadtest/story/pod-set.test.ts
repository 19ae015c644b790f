import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { topologies, topologyOf, withSettings } from '../../../loadtest/story/pods/pod-set.ts';

describe('the topologies of the story', () => {
  it('begin with a pod that serves sockets, and have a worker', () => {
    for (const { name, pods } of topologies) {
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

  it('are known by name', () => {
    assert.equal(topologyOf('two-workers').pods.length, 3);
    assert.throws(() => topologyOf('three'), /--pods: expected one, apart, slow-gateway, two-workers, got "three"/);
  });

  it('can all be given a setting', () => {
    const { pods } = withSettings(topologyOf('apart'), { FLOW_TARGET_MS: '0' });
    assert.deepEqual(
      pods.map(({ environment }) => [environment!['ROLE'], environment!['FLOW_TARGET_MS']]),
      [
        ['gateway', '0'],
        ['worker', '0'],
      ],
    );
  });
});
