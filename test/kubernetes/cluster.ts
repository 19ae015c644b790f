import { after, before } from 'node:test';
import { serviceMonitorDefinition } from '../../stack/kubernetes/kubernetes-schemas.ts';
import { manifestsOf } from '../deploy/manifests.ts';
import type { Manifest } from '../deploy/manifests.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { startControlPlane } from './control-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { succeeded } from './kubernetes-api.ts';
import type { KubernetesApi, KubernetesObject } from './kubernetes-api.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

export interface Pod extends KubernetesObject {
  readonly status: { readonly phase: string };
}

const PATIENCE_MS = 60_000;

/** As `waitFor`, with the patience that controllers of a busy machine need. */
export function waitForControllers<T>(what: string, condition: () => Promise<T>): Promise<NonNullable<T>> {
  return waitFor(what, condition, PATIENCE_MS);
}

/** Starts a control plane for the tests of a `describe`, with the definition of the ServiceMonitor. */
export function withCluster(use: (cluster: Cluster) => void): void {
  const stops: (() => Promise<void>)[] = [];
  before(async () => {
    const plane = await startControlPlane({ after: (stop) => void stops.unshift(stop) });
    const cluster = new Cluster(plane);
    await cluster.defineServiceMonitor();
    use(cluster);
  });
  after(async () => {
    for (const stop of stops) await stop();
  });
}

/** What a test does with a control plane. Each release has a namespace of its own, so nothing is removed. */
export class Cluster {
  readonly plane: ControlPlane;
  readonly api: KubernetesApi;

  constructor(plane: ControlPlane) {
    this.plane = plane;
    this.api = plane.api;
  }

  async defineServiceMonitor(): Promise<void> {
    await this.apply([await serviceMonitorDefinition()]);
    const served = async () => (await this.api.send('GET', '/apis/monitoring.coreos.com/v1')).status === 200;
    await waitForControllers('the ServiceMonitor', served);
  }

  /** A new namespace that admits only pods of the profile `restricted`. Its name. */
  async createNamespace(): Promise<string> {
    const name = randomName('crier');
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await this.api.post('/api/v1/namespaces', { metadata: { name, labels } });
    // Pods are refused until a controller has created it.
    const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await waitForControllers(account, async () => (await this.api.send('GET', account)).status === 200);
    return name;
  }

  /** The objects of an example in a new namespace, not applied yet. */
  async release(example: string): Promise<{ readonly namespace: string; readonly objects: Manifest[] }> {
    const namespace = await this.createNamespace();
    return { namespace, objects: await manifestsOf({ namespace, example }) };
  }

  /** @throws Error with the server's message for an object that is refused. */
  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    for (const object of objects) succeeded(await this.api.apply(object), `${object.kind} ${object.metadata.name}`);
  }

  /** An object as it is now, with what Kubernetes has added. */
  async read<Body>(object: KubernetesObject): Promise<Body> {
    return this.api.get<Body>(await this.api.pathOf(object));
  }

  /** Pods of a role that nothing deletes yet, the oldest first. */
  async pods(namespace: string, role: string): Promise<Pod[]> {
    const selector = `app.kubernetes.io/component=${role}`;
    interface Pods {
      readonly items: readonly Pod[];
    }
    const { items } = await this.api.get<Pods>(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`);
    const age = ({ metadata }: Pod) => Date.parse(metadata.creationTimestamp!);
    return items.filter(({ metadata }) => !metadata.deletionTimestamp).sort((a, b) => age(a) - age(b));
  }

  /** Resolves with the pods of a role when there are as many. */
  podsOf(namespace: string, role: string, count: number): Promise<Pod[]> {
    const pods = async () => {
      const found = await this.pods(namespace, role);
      return found.length === count ? found : undefined;
    };
    return waitForControllers(`${count} pods of role ${role}`, pods);
  }

  /** Does what a scheduler and a kubelet do: the pod runs on a node, is ready, and has an address. */
  async run({ metadata: { name, namespace } }: Pod, node: string, address: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await this.api.post(`${path}/binding`, { metadata: { name }, target: { kind: 'Node', name: node } });
    const now = new Date().toISOString();
    const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
      ...{ type, status: 'True', lastTransitionTime: now },
    }));
    const status = { phase: 'Running', conditions, podIP: address, podIPs: [{ ip: address }], startTime: now };
    await this.api.patch(`${path}/status`, { status });
  }

  /** A node without a kubelet. */
  async createNode(name: string): Promise<void> {
    await this.api.post('/api/v1/nodes', { metadata: { name } });
  }
}
