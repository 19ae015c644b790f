import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
/** Above either, this process and not the server may set the pace. */
const BUSY_CPU = 0.9;
const BUSY_LAG_MS = 50;

export interface Load {
  /** Of one core: 1 is all of it. */
  readonly cpu: number;
  readonly loopLagP99Ms: number;
  readonly isBusy: boolean;
}

/** How busy this process is, from now on. */
export function watchLoad(): () => Load {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    delays.disable();
    const cpu = (user + system) / 1000 / (performance.now() - startedAt);
    const loopLagP99Ms = Math.max(0, delays.percentile(99) / 1e6 - RESOLUTION_MS);
    return { cpu, loopLagP99Ms, isBusy: cpu > BUSY_CPU || loopLagP99Ms > BUSY_LAG_MS };
  };
}
