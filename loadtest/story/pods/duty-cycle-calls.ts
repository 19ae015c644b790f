import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Halves a process's CPU time with SIGSTOP and SIGCONT. */
export interface DutyCycle {
  /** Resolves when the process runs without interruption again. Idempotent. */
  stop(): Promise<void>;
}

/** Runs in a separate process, which continues `pid` when this process ends. */
export function startDutyCycle(pid: number): DutyCycle {
  const child = fork(new URL('duty-cycle.js', import.meta.url), [String(pid)]);
  const ended = once(child, 'exit');
  return {
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
