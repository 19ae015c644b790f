import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Control groups of version 1 with the CPU controller (https://docs.kernel.org/scheduler/sched-bwc.html). */
const GROUPS = '/sys/fs/cgroup/cpu';
/** In µs. Short, so that a process that has used its quota waits briefly. */
const PERIOD_US = 20_000;

export interface CpuQuota {
  /** Removes the quota of a process that has ended. */
  remove(): void;
}

/** Limits a process to a share of one core. Returns undefined where this process cannot create a control group of version 1. */
export function limitCpu(pid: number, share: number): CpuQuota | undefined {
  const group = `${GROUPS}/crier-bench-${pid}`;
  try {
    mkdirSync(group);
  } catch {
    return undefined;
  }
  writeFileSync(`${group}/cpu.cfs_period_us`, `${PERIOD_US}`);
  writeFileSync(`${group}/cpu.cfs_quota_us`, `${Math.round(share * PERIOD_US)}`);
  writeFileSync(`${group}/cgroup.procs`, `${pid}`);
  return { remove: () => rmdirSync(group) };
}
