import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { envoyProgram } from '../../stack/envoy.ts';
import { freePorts } from '../../stack/port.ts';
import { PROXY_PROGRAMS, installPrograms, missingPrograms } from '../../stack/programs.ts';
import { fileOfPage, replaced } from '../docs/page-files.ts';
import type { Pod } from '../end-to-end/pod.ts';
import type { Scope } from '../support/socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

export type Replacements = readonly (readonly [from: string, to: string])[];

/** A proxy with the configuration of docs/operate/proxies.md, with the addresses and files of a test. */
export interface Proxy {
  readonly port: number;
  readonly process: ChildProcess;
}

interface ProxyKind {
  /** Its configuration on the page. */
  readonly file: string;
  readonly program: () => string | Promise<string>;
  readonly flags: (config: string, folder: string) => readonly string[];
  /** What differs on the machine of a test. */
  readonly local: (port: number, folder: string) => Replacements;
}

const PAGE = 'docs/operate/proxies.md';
/** Addresses of pods on the page. */
const HOSTS = ['10.0.0.1', '10.0.0.2'];

const KINDS = {
  nginx: {
    file: 'nginx.conf',
    program: () => 'nginx',
    flags: (config, folder) => [
      ...['-p', folder, '-c', config, '-e', 'stderr'],
      ...['-g', `daemon off; pid ${join(folder, 'pid')};`],
    ],
    local: (port, folder) => [
      ['listen 443 ', `listen 127.0.0.1:${port} `],
      ['/var/log/nginx/', `${folder}/`],
    ],
  },
  envoy: {
    file: 'envoy.yaml',
    program: envoyProgram,
    flags: (config) => ['-c', config, '--concurrency', '1', '--use-dynamic-base-id', '--log-level', 'warning'],
    local: (port) => [['{ address: 0.0.0.0, port_value: 443 }', `{ address: 127.0.0.1, port_value: ${port} }`]],
  },
  haproxy: {
    file: 'haproxy.cfg',
    program: () => 'haproxy',
    flags: (config) => ['-db', '-f', config],
    local: (port) => [['bind :443 ', `bind 127.0.0.1:${port} `]],
  },
} as const satisfies Record<string, ProxyKind>;

export type ProxyName = keyof typeof KINDS;
export const PROXY_NAMES = Object.keys(KINDS) as ProxyName[];

/** Installs all proxies, and what starts them. */
export async function installProxies(): Promise<void> {
  await installPrograms(await missingPrograms(PROXY_PROGRAMS));
  await envoyProgram();
}

/**
 * Starts a proxy in front of two pods; ends it with the scope.
 * @param edits of the page's configuration: shorter times, and mistakes
 */
export async function startProxy(
  scope: Scope,
  name: ProxyName,
  pods: readonly [Pod, Pod],
  edits: Replacements = [],
): Promise<Proxy> {
  const kind: ProxyKind = KINDS[name];
  const folder = await temporaryFolder(scope);
  await createCertificate(folder);
  const [port] = (await freePorts(1)) as [number];
  const page = withPods(fileOfPage(PAGE, kind.file), pods);
  const text = replaced(page, [...edits, ...kind.local(port, folder), ['/etc/crier', folder]]);
  const config = join(folder, kind.file);
  await writeFile(config, text);
  const child = spawn(await kind.program(), kind.flags(config, folder), { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  scope.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await waitFor(`${name} to listen`, async () => child.exitCode !== null || (await isListening(port)), 20_000);
  if (child.exitCode !== null) throw new Error(`${name} has ended: ${log}\n${text}`);
  return { port, process: child };
}

/** Puts the ports of pods in the place of the addresses on the page: first comes a pod's address, then its other ports. */
function withPods(text: string, pods: readonly Pod[]): string {
  let at = -1;
  return text
    .split('\n')
    .map((line) => {
      at = Math.max(
        HOSTS.findIndex((host) => line.includes(host)),
        at,
      );
      const pod = pods[at];
      if (!pod) return line;
      const [endpoint, admin] = [new URL(pod.endpoint).port, new URL(pod.admin).port];
      return line
        .replace(HOSTS[at]!, '127.0.0.1')
        .replace(/(:|port_value: )4000\b/, `$1${endpoint}`)
        .replace(/(port |port_value: )4001\b/, `$1${admin}`);
    })
    .join('\n');
}

/** Of api.example.com, in the files that the page names. */
async function createCertificate(folder: string): Promise<void> {
  const [certificate, key] = [join(folder, 'tls.pem'), join(folder, 'tls.key')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const files = ['-subj', '/CN=api.example.com', '-out', certificate, '-keyout', key];
  execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'ignore' });
  for (const file of [certificate, key]) await appendFile(join(folder, 'tls-and-key.pem'), await readFile(file));
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
