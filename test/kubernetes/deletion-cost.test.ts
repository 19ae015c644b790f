import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { ofKind } from '../deploy/manifests.ts';
import type { Manifest } from '../deploy/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { withCluster } from './cluster.ts';
import type { Cluster, Pod } from './cluster.ts';

const COST = 'controller.kubernetes.io/pod-deletion-cost';
const GATEWAY = 'crier-gateway';

interface Job {
  readonly spec: {
    readonly jobTemplate: { readonly spec: { readonly template: { readonly spec: JobPod } } };
  };
}

interface JobPod {
  readonly serviceAccountName: string;
  readonly containers: readonly [{ readonly env: readonly { name: string; value: string }[] }];
}

describe('the deletion cost', () => {
  let cluster: Cluster;
  withCluster((started) => (cluster = started));

  /** What the CronJob runs, with the rights of its account. */
  async function runJob(t: TestContext, namespace: string, objects: readonly Manifest[]): Promise<void> {
    const name = 'crier-deletion-cost';
    const { spec } = ofKind(objects, 'CronJob').get(name) as unknown as Job;
    const { serviceAccountName, containers } = spec.jobTemplate.spec.template.spec;
    const { data } = ofKind(objects, 'ConfigMap').get(name) as unknown as { data: Record<string, string> };
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccountName}/token`;
    const { status } = await cluster.api.post<{ status: { token: string } }>(path, request);
    const folder = await temporaryFolder(t);
    const files = { ...data, token: status.token, 'ca.crt': cluster.plane.ca };
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    await promisify(execFile)(process.execPath, [join(folder, 'deletion-cost.mjs')], {
      env: {
        ...Object.fromEntries(containers[0].env.map(({ name, value }) => [name, value])),
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: String(cluster.plane.port),
        CREDENTIALS: folder,
      },
    });
  }

  /** Three gateways that run: the two oldest share a node, the newest has one for itself. */
  async function threeGateways(namespace: string): Promise<Pod[]> {
    const [shared, own] = [`${namespace}-shared`, `${namespace}-own`];
    for (const node of [shared, own]) await cluster.createNode(node);
    const older = await cluster.podsOf(namespace, 'gateway', 2);
    // Times of creation have seconds only.
    const last = Math.max(...older.map(({ metadata }) => Date.parse(metadata.creationTimestamp!)));
    await waitFor('the next second', () => Date.now() >= last + 1000);
    await scale(namespace, 3);
    const pods = await cluster.podsOf(namespace, 'gateway', 3);
    for (const [index, pod] of pods.entries()) await cluster.run(pod, index < 2 ? shared : own, `10.1.0.${index + 1}`);
    return pods;
  }

  async function scale(namespace: string, replicas: number): Promise<void> {
    await cluster.api.patch(`/apis/apps/v1/namespaces/${namespace}/deployments/${GATEWAY}/scale`, {
      spec: { replicas },
    });
  }

  /** Names of the gateways that the ReplicaSet removes when it shrinks to two. */
  async function removed(namespace: string, pods: readonly Pod[]): Promise<string[]> {
    await scale(namespace, 2);
    const left = new Set((await cluster.podsOf(namespace, 'gateway', 2)).map(({ metadata }) => metadata.name));
    return pods.map(({ metadata }) => metadata.name).filter((name) => !left.has(name));
  }

  it('has the newest gateway removed first, and is given to gateways only, once', { timeout: 120_000 }, async (t) => {
    const { namespace, objects } = await cluster.release('full');
    await cluster.apply(objects);
    const pods = await threeGateways(namespace);
    await cluster.podsOf(namespace, 'worker', 6);
    const costs = async (role: string) =>
      (await cluster.pods(namespace, role)).map(({ metadata }) => metadata.annotations?.[COST]);
    await runJob(t, namespace, objects);
    const given = await costs('gateway');
    assert.ok(Number(given[1]) > Number(given[2]), String(given));
    assert.ok(Number(given[0]) >= Number(given[1]), String(given));
    assert.deepEqual(new Set(await costs('worker')), new Set([undefined]));
    await runJob(t, namespace, objects);
    assert.deepEqual(await costs('gateway'), given);
    assert.deepEqual(await removed(namespace, pods), [pods[2]!.metadata.name]);
  });

  it(
    'decides it: without a cost an older gateway that shares its node is removed (twin)',
    { timeout: 120_000 },
    async () => {
      const { namespace, objects } = await cluster.release('full');
      await cluster.apply(objects);
      const pods = await threeGateways(namespace);
      assert.notDeepEqual(await removed(namespace, pods), [pods[2]!.metadata.name]);
    },
  );
});
