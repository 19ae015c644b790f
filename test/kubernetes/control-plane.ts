import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { controlPlaneProgram } from '../../stack/kubernetes/control-plane-programs.ts';
import type { ControlPlaneProgram } from '../../stack/kubernetes/control-plane-programs.ts';
import { freePorts } from '../../stack/port.ts';
import { startService } from '../../stack/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { KubernetesApi } from './kubernetes-api.ts';

const START_TIMEOUT_MS = 120_000;
/** Signs tokens of service accounts. */
const ISSUER = 'https://kubernetes.default.svc';

interface Scope {
  after(fn: () => Promise<void>): void;
}

export interface ControlPlane {
  /** Of the API server, with its host. */
  readonly port: number;
  /** The certificate of the API server. */
  readonly ca: string;
  /** With all rights. */
  readonly api: KubernetesApi;
}

/**
 * Starts etcd, an API server and the controllers of Kubernetes on loopback. There is neither a scheduler nor a kubelet: pods are created
 * and stay pending.
 */
export async function startControlPlane(scope: Scope): Promise<ControlPlane> {
  const folder = await temporaryFolder(scope);
  const [etcdPort, peerPort, port, controllerPort] = (await freePorts(4)) as [number, number, number, number];
  const start = async (name: ControlPlaneProgram, words: readonly string[], isReady: () => Promise<boolean>) => {
    const command = await controlPlaneProgram(name);
    const fix = 'run npm run test:kubernetes';
    const service = await startService({ name, command, arguments: words, fix, isReady, timeoutMs: START_TIMEOUT_MS });
    scope.after(() => service.stop());
  };

  const etcd = `http://127.0.0.1:${etcdPort}`;
  await start(
    'etcd',
    [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${etcd}`,
      `--advertise-client-urls=${etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      '--unsafe-no-fsync',
    ],
    () => isOk(fetch(`${etcd}/health`)),
  );

  const token = randomUUID();
  const keys = await writeKeys(folder);
  const tokens = join(folder, 'tokens.csv');
  await writeFile(tokens, `${token},admin,admin,system:masters\n`);
  const certificate = join(folder, 'apiserver.crt');
  // The server writes its certificate before it listens.
  const access = async () => ({ port, token, ca: await readFile(certificate, 'utf8') });
  await start(
    'kube-apiserver',
    [
      `--etcd-servers=${etcd}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${folder}`,
      `--token-auth-file=${tokens}`,
      '--authorization-mode=RBAC',
      `--service-account-issuer=${ISSUER}`,
      `--service-account-key-file=${keys.public}`,
      `--service-account-signing-key-file=${keys.private}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ],
    async () => isOk(access().then((known) => new KubernetesApi(known).get('/readyz'))),
  );
  const { ca } = await access();

  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'test', cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': certificate } },
    ],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  // JSON is YAML.
  await writeFile(kubeconfig, JSON.stringify(config));
  const api = new KubernetesApi({ port, token, ca });
  await start(
    'kube-controller-manager',
    [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${controllerPort}`,
      `--cert-dir=${folder}`,
      `--service-account-private-key-file=${keys.private}`,
      `--root-ca-file=${certificate}`,
      '--horizontal-pod-autoscaler-sync-period=1s',
    ],
    // A controller of its own gives each namespace this account.
    () => isOk(api.get('/api/v1/namespaces/default/serviceaccounts/default')),
  );
  return { port, ca, api };
}

/** Keys that sign and verify the tokens of service accounts: their paths. */
async function writeKeys(folder: string): Promise<{ readonly private: string; readonly public: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const paths = { private: join(folder, 'accounts.key'), public: join(folder, 'accounts.pub') };
  await writeFile(paths.private, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  await writeFile(paths.public, publicKey.export({ type: 'spki', format: 'pem' }));
  return paths;
}

/** False if it is rejected, or resolves with a response that is not ok. */
async function isOk(reply: Promise<unknown>): Promise<boolean> {
  return reply.then(
    (value) => !(value instanceof Response) || value.ok,
    () => false,
  );
}
