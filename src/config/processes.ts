import { availableCores } from './cpu-quota.ts';
import { isEmbedded } from './mode.ts';
import type { Settings } from './settings.ts';
import type { SettingsInput } from './settings-input.ts';

/** The variable by which a pod of several processes tells each of them its name. Set by crier only. */
export const PROCESS_VARIABLE = 'CRIER_PROCESS';

/** The processes of a pod, as one of them sees them. */
export interface Processes {
  /** Gateway processes of the pod; 1: the whole pod is one process. */
  readonly PROCESSES: number;
  /** Name of this process, such as `gateway-1`; undefined: it is the pod, or starts the pod's processes. */
  readonly process: string | undefined;
}

/** `auto`: one gateway process for each core, where a pod can have several. */
export function processesOf(
  settings: Settings,
  { process }: Pick<SettingsInput, 'process'>,
  cores = availableCores,
): Processes {
  const { PROCESSES: wanted } = settings;
  const isSingle = isEmbedded(settings) || settings.ROLE === 'worker';
  const PROCESSES = wanted !== 'auto' ? wanted : isSingle ? 1 : cores();
  return { PROCESSES, process };
}

/** A line if a pod of these settings cannot have several processes. */
export function processesProblems(settings: Settings, { process }: Pick<SettingsInput, 'process'>): string[] {
  const { PROCESSES: wanted, ROLE: role, names } = settings;
  if (wanted === 'auto' || wanted === 1 || process !== undefined) return [];
  if (role === 'worker')
    return [
      `${names.PROCESSES}: expected 1 with ${names.ROLE}=worker, got ${wanted}; run more workers as pods of their own`,
    ];
  if (!isEmbedded(settings)) return [];
  return [
    `${names.PROCESSES}: expected 1 without ${names.REDIS_URL}, got ${wanted}: the processes of a pod meet only at Redis; set ${names.REDIS_URL} and ${names.KAFKA_BROKERS}, or ${names.PROCESSES}=1`,
  ];
}

/** The share of one gateway process in a limit of the pod; 0, which is no limit, stays 0. */
export function shareOf(limit: number, { PROCESSES }: Pick<Processes, 'PROCESSES'>): number {
  return Math.ceil(limit / PROCESSES);
}
