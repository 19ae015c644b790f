import { readFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { canPin } from '../processes/pinning.ts';

/** Date, machine, versions and flags of a run. */
export type Conditions = Readonly<Record<string, string | number | boolean>>;

/** The conditions of a run. `packages`: those whose versions are listed. */
export function conditionsOf(packages: readonly string[] = ['ws', 'graphql', 'graphql-ws']): Conditions {
  return {
    date: new Date().toISOString().slice(0, 16),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    kernel: release(),
    'congestion control': textOf('/proc/sys/net/ipv4/tcp_congestion_control') ?? 'unknown',
    'loopback receives': isReceiveSteered() ? 'on the core of who reads' : 'on the core of who sends',
    pinned: canPin ? 'server on one core; client, publisher and Redis on another' : 'no',
    ...Object.fromEntries(packages.map((name) => [name, versionOf(name)])),
  };
}

/** The conditions as the list of a Markdown file, one a line. */
export function conditionsList(conditions: Conditions): string {
  return Object.entries(conditions)
    .map(([name, value]) => `- ${name}: ${value}\n`)
    .join('');
}

/**
 * Whether the kernel receives loopback packets on the core of the reading process (receive flow steering), as on two machines. Otherwise
 * it does so within the sender's system call. https://docs.kernel.org/networking/scaling.html#rfs-receive-flow-steering
 */
function isReceiveSteered(): boolean {
  const queue = '/sys/class/net/lo/queues/rx-0';
  const settings = [`${queue}/rps_cpus`, `${queue}/rps_flow_cnt`, '/proc/sys/net/core/rps_sock_flow_entries'];
  return settings.every((path) => /[1-9a-f]/.test(textOf(path) ?? ''));
}

function versionOf(name: string): string {
  const text = textOf(`node_modules/${name}/package.json`) ?? textOf(`loadtest/node_modules/${name}/package.json`);
  return text === undefined ? 'not installed' : (JSON.parse(text) as { version: string }).version;
}

/** Returns undefined for an unreadable file. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
