import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtProgram, goModule, runGo } from '../go-programs.ts';
import { KUBERNETES_VERSION } from './chart.ts';

/** Packages of the programs. Kubernetes' module fixes the version of etcd. */
const PACKAGES = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
} as const;

export type ControlPlaneProgram = keyof typeof PACKAGES;

export const CONTROL_PLANE_PROGRAMS = Object.keys(PACKAGES) as ControlPlaneProgram[];

const KUBERNETES = `k8s.io/kubernetes@v${KUBERNETES_VERSION}`;
/** Released together with Kubernetes, with another first number. */
const LIBRARY_VERSION = `v${KUBERNETES_VERSION.replace(/^1\./, '0.')}`;
const VERSION = 'k8s.io/component-base/version';

/** The path of a program of the version that the chart is rendered for. Builds it first, which takes minutes. */
export function controlPlaneProgram(name: ControlPlaneProgram): Promise<string> {
  return builtProgram(name, `kubernetes-${KUBERNETES_VERSION}`, async (folder) => {
    await writeFile(join(folder, 'go.mod'), await moduleFile());
    const [major, minor] = KUBERNETES_VERSION.split('.');
    const version = { gitVersion: `v${KUBERNETES_VERSION}`, gitMajor: major, gitMinor: minor };
    const flags = Object.entries(version).map(([key, value]) => `-X ${VERSION}.${key}=${value}`);
    await runGo(['build', '-mod=mod', `-ldflags=-s -w ${flags.join(' ')}`, '-o', name, PACKAGES[name]], {}, folder);
  });
}

/**
 * A go.mod that builds programs of Kubernetes. `go install` refuses them, because Kubernetes' own go.mod replaces its libraries by folders
 * of its repository, which are not part of the module.
 */
async function moduleFile(): Promise<string> {
  const text = await readFile(join(await goModule(KUBERNETES), 'go.mod'), 'utf8');
  const [, goVersion] = /^go (.+)$/m.exec(text)!;
  const libraries = Array.from(text.matchAll(/^\t(\S+) => \.\/staging\//gm), ([, library]) => library);
  const replaces = libraries.map((library) => `replace ${library} => ${library} ${LIBRARY_VERSION}`);
  const lines = ['module control-plane', `go ${goVersion}`, `require ${KUBERNETES.replace('@', ' ')}`, ...replaces];
  return `${lines.join('\n')}\n`;
}
