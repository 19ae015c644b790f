import { CLIENT_CORE } from '../../processes/pinning.ts';
import { crierPod } from './pod.ts';
import type { Pod } from './pod.ts';

/** Pods that the story is run against: one consumer group, one channel prefix. */
export interface Topology {
  readonly name: string;
  readonly title: string;
  /** The first one is drawn, and serves sockets; those that serve share them equally. */
  readonly pods: readonly Pod[];
  /** Whether the flood must be as fast as the closed loop: not where pods share cores by chance. */
  readonly isCompared: boolean;
}

export function alone(pod: Pod): Topology {
  return { name: pod.name, title: pod.title, pods: [pod], isCompared: true };
}

/** What crier can be run as, all halves as `npm start` runs them. Gateways have the server's core, workers the other one. */
export const topologies: readonly Topology[] = [
  { ...alone(crierPod), name: 'one' },
  { name: 'apart', title: 'crier, halves apart', pods: [gateway('gateway'), worker('worker')], isCompared: true },
  {
    name: 'slow-gateway',
    title: 'crier, two gateways, one slow',
    pods: [gateway('gateway'), { ...gateway('slow-gateway'), isSlow: true }, worker('worker')],
    isCompared: false,
  },
  {
    name: 'two-workers',
    title: 'crier, two workers',
    pods: [gateway('gateway'), worker('worker-a'), worker('worker-b')],
    isCompared: false,
  },
];

/** @throws Error naming those that there are. */
export function topologyOf(name: string): Topology {
  const found = topologies.find((topology) => topology.name === name);
  if (found) return found;
  throw new Error(`--pods: expected ${topologies.map((one) => one.name).join(', ')}, got "${name}"`);
}

/** The same pods with these settings, too. */
export function withSettings(topology: Topology, settings: Readonly<Record<string, string>>): Topology {
  const pods = topology.pods.map((pod) => ({ ...pod, environment: { ...pod.environment, ...settings } }));
  return { ...topology, pods };
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
