import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/variable.ts';
import { MAX_OVERRUN_MS } from '../../src/ops/watchdog.ts';

/** Longest time in ms from SIGTERM to the end of a pod with this environment. */
export function longestShutdownMs(environment: Environment): number {
  return readConfig(environment).SHUTDOWN_TIMEOUT_MS + MAX_OVERRUN_MS;
}
