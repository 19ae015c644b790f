import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';

/** A TCP balancer in a separate process. */
export interface BalancerProcess {
  /** Resolves with its port. */
  start(): Promise<number>;
  /** Sets the targets of new connections. */
  target(ports: readonly number[]): Promise<void>;
  stop(): Promise<void>;
}

export function startBalancer(): BalancerProcess {
  const script = new URL('balancer-process.js', import.meta.url).pathname;
  const [command, ...words] = pinned(CLIENT_CORE, [process.execPath, script]);
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    start: () => callProcess(child, 'start'),
    target: (ports) => callProcess(child, 'target', ports),
    stop: () => stopProcess(child),
  };
}
