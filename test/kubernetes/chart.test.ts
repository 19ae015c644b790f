import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EXAMPLES, ofKind } from '../deploy/manifests.ts';
import type { Manifest } from '../deploy/manifests.ts';
import { waitForControllers, withCluster } from './cluster.ts';
import type { Cluster, Condition } from './cluster.ts';
import type { KubernetesObject } from './kubernetes-api.ts';

/** Pods of each role: of a gateway with an autoscaler, its `minReplicas`. */
const PODS: Readonly<Record<(typeof EXAMPLES)[number], Readonly<Record<string, number>>>> = {
  roles: { gateway: 2, worker: 2 },
  all: { all: 2 },
  full: { gateway: 2, worker: 6 },
};

interface Budget extends KubernetesObject {
  readonly status?: { readonly expectedPods: number; readonly disruptionsAllowed: number };
}

interface Autoscaler extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Slices {
  readonly items: readonly { readonly endpoints: readonly { readonly targetRef: { readonly name: string } }[] }[];
}

/** The object with another text in its place. */
function changed(object: Manifest, text: string, other: string): Manifest {
  const before = JSON.stringify(object);
  assert.ok(before.includes(text), text);
  return JSON.parse(before.replaceAll(text, other)) as Manifest;
}

describe('the chart on a control plane', () => {
  let cluster: Cluster;
  withCluster((started) => (cluster = started));

  for (const example of EXAMPLES) {
    it(`has every object of examples/${example}.yaml accepted, and changes nothing when they are applied again`, async () => {
      const { objects } = await cluster.release(example);
      await cluster.apply(objects);
      for (const object of objects) {
        const isUnchanged = async () => {
          const { metadata } = await cluster.read<KubernetesObject>(object);
          const { body } = await cluster.api.apply(object);
          return body.metadata.resourceVersion === metadata.resourceVersion;
        };
        // Controllers write to objects, too, until they have nothing to do.
        await waitForControllers(`${object.kind} ${object.metadata.name} to stay as it is`, isUnchanged);
      }
    });

    it(`creates the pods of examples/${example}.yaml within the profile "restricted", each role with its budget`, async () => {
      const { namespace, objects } = await cluster.release(example);
      await cluster.apply(objects);
      const [deployments, budgets] = [ofKind(objects, 'Deployment'), ofKind(objects, 'PodDisruptionBudget')];
      assert.deepEqual(
        [...deployments.keys()],
        Object.keys(PODS[example]).map((role) => `crier-${role}`),
      );
      for (const [role, count] of Object.entries(PODS[example])) {
        const [pod, ...others] = await cluster.podsOf(namespace, role, count);
        const owner = pod!.metadata.ownerReferences![0]!;
        assert.deepEqual([owner.kind, owner.controller], ['ReplicaSet', true]);
        for (const { metadata } of others) assert.deepEqual(metadata.ownerReferences, [owner]);
        const set = await cluster.api.get<KubernetesObject>(
          `/apis/apps/v1/namespaces/${namespace}/replicasets/crier-${role}-${pod!.metadata.labels!['pod-template-hash']}`,
        );
        assert.equal(set.metadata.uid, owner.uid);
        const deployment = await cluster.read<KubernetesObject>(deployments.get(`crier-${role}`)!);
        assert.equal(set.metadata.ownerReferences![0]!.uid, deployment.metadata.uid);
        await waitForControllers(`a budget over the pods of role ${role}`, async () => {
          const { status } = await cluster.read<Budget>(budgets.get(`crier-${role}`)!);
          return status?.expectedPods === count;
        });
      }
    });
  }

  it('has an autoscaler that finds its Deployment, and lacks nothing but the metrics', async () => {
    for (const [example, reason] of [
      ['roles', 'FailedGetResourceMetric'],
      ['full', 'FailedGetPodsMetric'],
    ] as const) {
      const { objects } = await cluster.release(example);
      await cluster.apply(objects);
      const autoscaler = ofKind(objects, 'HorizontalPodAutoscaler').get('crier-gateway')!;
      const conditions = await waitForControllers('metrics to be asked for', async () => {
        const { status } = await cluster.read<Autoscaler>(autoscaler);
        const found = new Map(status?.conditions?.map((condition) => [condition.type, condition]));
        return found.has('ScalingActive') ? found : undefined;
      });
      assert.equal(conditions.get('AbleToScale')!.status, 'True');
      assert.equal(conditions.get('ScalingActive')!.reason, reason);
    }
  });

  it('has a Service that leads to ready gateways only', async () => {
    const { namespace, objects } = await cluster.release('roles');
    await cluster.apply(objects);
    await cluster.createNode(namespace);
    const [gateway] = await cluster.podsOf(namespace, 'gateway', 2);
    const [worker] = await cluster.podsOf(namespace, 'worker', 2);
    await cluster.run(worker!, namespace, '10.1.0.1');
    await cluster.run(gateway!, namespace, '10.1.0.2');
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name=crier`;
    const endpoints = await waitForControllers('an endpoint', async () => {
      const { items } = await cluster.api.get<Slices>(path);
      const found = items.flatMap((slice) => slice.endpoints ?? []);
      return found.length > 0 ? found : undefined;
    });
    assert.deepEqual(
      endpoints.map(({ targetRef }) => targetRef.name),
      [gateway!.metadata.name],
    );
  });

  it('lets one gateway be evicted at a time', async () => {
    const { namespace, objects } = await cluster.release('roles');
    await cluster.apply(objects);
    await cluster.createNode(namespace);
    const pods = await cluster.podsOf(namespace, 'gateway', 2);
    for (const [index, pod] of pods.entries()) await cluster.run(pod, namespace, `10.1.0.${index + 1}`);
    const budget = ofKind(objects, 'PodDisruptionBudget').get('crier-gateway')!;
    await waitForControllers('two healthy gateways', async () => {
      const { status } = await cluster.read<Budget>(budget);
      return status?.disruptionsAllowed === 1;
    });
    const evict = ({ metadata: { name } }: KubernetesObject) => {
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
      return cluster.api.send('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction);
    };
    const statuses: number[] = [];
    for (const pod of pods) statuses.push((await evict(pod)).status);
    assert.deepEqual(statuses, [201, 429]);
  });

  it('is refused with a field that does not exist, also in a ServiceMonitor (twin)', async () => {
    const { objects } = await cluster.release('full');
    for (const [kind, name, field, wrong] of [
      ['Deployment', 'crier-gateway', 'minReadySeconds', 'minReadySecond'],
      ['ServiceMonitor', 'crier', '"interval"', '"intervall"'],
    ] as const) {
      const { status, body } = await cluster.api.apply(changed(ofKind(objects, kind).get(name)!, field, wrong));
      assert.ok(status >= 400, kind);
      assert.match(body.message!, new RegExp(wrong.replaceAll('"', '')));
    }
  });

  it('is refused where the schemas find no fault: a selector that its pods do not match, a schedule of four fields (twin)', async () => {
    const { objects } = await cluster.release('full');
    for (const [kind, name, text, wrong, message] of [
      ['Deployment', 'crier-gateway', '"matchLabels":{', '"matchLabels":{"a":"b",', /selector. does not match/],
      ['CronJob', 'crier-deletion-cost', '*/5 * * * *', '*/5 * * *', /expected exactly 5 fields/],
    ] as const) {
      const { status, body } = await cluster.api.apply(changed(ofKind(objects, kind).get(name)!, text, wrong));
      assert.equal(status, 422, kind);
      assert.match(body.message!, message);
    }
  });

  it('gets no pod that may run as root (twin)', async () => {
    const { objects } = await cluster.release('all');
    const deployment = changed(
      ofKind(objects, 'Deployment').get('crier-all')!,
      '"runAsNonRoot":true',
      '"runAsNonRoot":false',
    );
    await cluster.apply([...objects.filter(({ kind }) => kind === 'ServiceAccount'), deployment]);
    await waitForControllers('the refusal', async () => {
      interface Deployment {
        readonly status?: { readonly conditions?: readonly Condition[] };
      }
      const { status } = await cluster.read<Deployment>(deployment);
      return status?.conditions?.some(({ type, reason }) => type === 'ReplicaFailure' && reason === 'FailedCreate');
    });
  });
});
