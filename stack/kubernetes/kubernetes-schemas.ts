import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { goModule } from '../go-programs.ts';
import { KUBERNETES_VERSION } from './chart.ts';

/** The last release of the operator whose Go module has the definitions as JSON. */
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const SERVICE_MONITOR = join('jsonnet', 'prometheus-operator', 'servicemonitors-crd.json');
/** Bumped when the form of the files changes. */
const FORM = 1;

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

/** A CustomResourceDefinition, as far as this file reads it. */
interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/**
 * The folder with a JSON schema of each kind of object, as kubeconform reads them: `deployment-apps-v1.json`. They are made of Kubernetes'
 * own OpenAPI, and strict: a field that does not exist is refused.
 */
export async function kubernetesSchemas(): Promise<string> {
  const folder = resolve('.stack', `schemas-${KUBERNETES_VERSION}-${FORM}`);
  if (existsSync(folder)) return folder;
  const draft = await mkdtemp(`${folder}-`);
  try {
    await writeSchemas(draft);
    await rename(draft, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

async function writeSchemas(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const kubernetes = await goModule(`k8s.io/kubernetes@v${KUBERNETES_VERSION}`);
  const text = await readFile(join(kubernetes, 'api', 'openapi-spec', 'swagger.json'), 'utf8');
  const { definitions } = JSON.parse(text) as { definitions: Record<string, Schema> };
  for (const [name, schema] of Object.entries(definitions)) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      const parts = Object.fromEntries([...closureOf(definitions, name)].map((one) => [one, definitions[one]!]));
      const whole = { $ref: `#/definitions/${name}`, definitions: strict(parts) };
      await writeFile(join(folder, fileOf(kind, group, version)), JSON.stringify(whole));
    }
  }
  const { spec } = await serviceMonitorDefinition();
  for (const { name, schema } of spec.versions) {
    const file = fileOf(spec.names.kind, spec.group, name);
    await writeFile(join(folder, file), JSON.stringify(strict(schema.openAPIV3Schema)));
  }
}

/** The CustomResourceDefinition of the ServiceMonitor. */
export async function serviceMonitorDefinition(): Promise<Definition> {
  const operator = await goModule(OPERATOR);
  return JSON.parse(await readFile(join(operator, SERVICE_MONITOR), 'utf8')) as Definition;
}

/** Names of the definitions that this one consists of, with its own. */
function closureOf(definitions: Readonly<Record<string, Schema>>, name: string): ReadonlySet<string> {
  const names = new Set([name]);
  for (const one of names) {
    for (const [, used] of JSON.stringify(definitions[one]).matchAll(/"#\/definitions\/([^"]+)"/g)) names.add(used!);
  }
  return names;
}

/** As kubeconform names them: the group's first part only. */
function fileOf(kind: string, group: string, version: string): string {
  return `${[kind, group.split('.')[0], version].filter(Boolean).join('-')}.json`.toLowerCase();
}

/** The schema without fields that it does not name, and with the two types that are text or a number. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const schema = value as Schema;
  // The field `description` of an object has a schema of its own.
  if (String(schema.description).startsWith('Quantity is a fixed-point')) return { type: ['string', 'number'] };
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string']) return { type: ['string', 'integer'] };
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, strict(part)]));
  const isClosed = typeof schema.properties === 'object' && schema.type === 'object';
  if (!isClosed || schema['x-kubernetes-preserve-unknown-fields']) return copy;
  return { additionalProperties: false, ...copy };
}
