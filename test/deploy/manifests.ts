import { parseAllDocuments } from 'yaml';
import { renderChart } from '../../stack/kubernetes/chart.ts';
import type { Release } from '../../stack/kubernetes/chart.ts';

export interface Container {
  readonly image: string;
  readonly env: readonly { name: string; value: string }[];
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: { readonly cpu: string } };
}

interface Probe {
  readonly httpGet: { readonly path: string };
  readonly failureThreshold: number;
  readonly periodSeconds: number;
  readonly successThreshold?: number;
}

export interface PodTemplate {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly shareProcessNamespace?: boolean;
    readonly containers: readonly [Container];
  };
}

/** An object of Kubernetes, as far as the tests read it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly [field: string]: unknown; readonly template: PodTemplate };
}

export const EXAMPLES = ['roles', 'all', 'full'] as const;

/** The objects of a release. Its name and namespace default to `crier`. */
export async function manifestsOf(release: Partial<Release>): Promise<Manifest[]> {
  const text = await renderChart({ name: 'crier', namespace: 'crier', example: 'roles', ...release });
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** The objects of a kind, by name. */
export function ofKind(manifests: readonly Manifest[], kind: string): Map<string, Manifest> {
  return new Map(manifests.filter((one) => one.kind === kind).map((one) => [one.metadata.name, one]));
}

/** Environment of a Deployment's container. */
export function environmentOf(deployment: Manifest): Record<string, string> {
  const [{ env }] = deployment.spec.template.spec.containers;
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}
