import { readFileSync } from 'node:fs';

/** Unit of /proc/<pid>/stat: USER_HZ is 100 on every Linux that Node supports. */
const TICK_MS = 10;

/** CPU time that a process has used, in ms. */
export interface CpuTime {
  readonly userMs: number;
  /** Kernel time. Most kernels sample the split between user and kernel time at each clock tick. */
  readonly systemMs: number;
}

export function cpuTime(pid: number): CpuTime {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { userMs: Number(fields[11]) * TICK_MS, systemMs: Number(fields[12]) * TICK_MS };
}

/** CPU time that a process has used, user and system, in ms. */
export function cpuMs(pid: number): number {
  const { userMs, systemMs } = cpuTime(pid);
  return userMs + systemMs;
}

/**
 * Time in ms that a process's main thread was runnable without a core, because of other programs. 0 if the kernel does not report it.
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

/** The machine's monotonic clock in ms, shared by all processes. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
