import { readFileSync } from 'node:fs';

/** The unit of /proc/<pid>/stat: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** CPU time that a process has used, in ms. */
export interface CpuTime {
  readonly userMs: number;
  /** In the kernel. Most kernels tell the two apart by where each tick of their clock finds the process: a sample. */
  readonly systemMs: number;
}

export function cpuTime(pid: number): CpuTime {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command, in brackets, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { userMs: Number(fields[11]) * TICK_MS, systemMs: Number(fields[12]) * TICK_MS };
}

/** CPU time that a process has used, user and system, in ms. */
export function cpuMs(pid: number): number {
  const { userMs, systemMs } = cpuTime(pid);
  return userMs + systemMs;
}

/**
 * Time that a process's main thread was ready to run and had to wait for a core, in ms: what other programs of the machine cost it.
 * 0 where the kernel does not tell.
 */
export function cpuWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Resident memory of a process. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
