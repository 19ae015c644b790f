import { CLIENT_CORE } from '../../processes/pinning.ts';
import { crierPod } from './pod.ts';
import type { Pod } from './pod.ts';

/** The pods of one run. They share a consumer group and a channel prefix. */
export interface PodSet {
  readonly name: string;
  readonly title: string;
  /** The charts show the first pod, which serves sockets. Pods that serve sockets get equal shares of them. */
  readonly pods: readonly Pod[];
  /** Whether the throughput of the pace phase is a bound. Not where pods compete for a core. */
  readonly mustKeepPace: boolean;
}

export function singlePod(pod: Pod): PodSet {
  return { name: pod.name, title: pod.title, pods: [pod], mustKeepPace: true };
}

/** The choices of `--pods`, each process as `npm start` runs it. Gateways use the server's core, workers the other one. */
export const podSets: readonly PodSet[] = [
  { ...singlePod(crierPod), name: 'one' },
  { name: 'apart', title: 'crier, halves apart', pods: [gateway('gateway'), worker('worker')], mustKeepPace: true },
  {
    name: 'slow-gateway',
    title: 'crier, two gateways, one slow',
    pods: [gateway('gateway'), { ...gateway('slow-gateway'), isSlow: true }, worker('worker')],
    mustKeepPace: false,
  },
  {
    name: 'two-workers',
    title: 'crier, two workers',
    pods: [gateway('gateway'), worker('worker-a'), worker('worker-b')],
    mustKeepPace: false,
  },
];

/** @throws Error listing the names. */
export function podSetOf(name: string): PodSet {
  const found = podSets.find((podSet) => podSet.name === name);
  if (found) return found;
  throw new Error(`--pods: expected ${podSets.map((set) => set.name).join(', ')}, got "${name}"`);
}

/** The same pods with additional settings. */
export function withSettings(podSet: PodSet, settings: Readonly<Record<string, string>>): PodSet {
  const pods = podSet.pods.map((pod) => ({ ...pod, environment: { ...pod.environment, ...settings } }));
  return { ...podSet, pods };
}

function gateway(name: string): Pod {
  return half(name, 'gateway');
}

function worker(name: string): Pod {
  return { ...half(name, 'worker'), isWorkerOnly: true, core: CLIENT_CORE };
}

function half(name: string, role: string): Pod {
  return { ...crierPod, name, title: `crier, ${name}`, environment: { ...crierPod.environment, ROLE: role } };
}
