import { fork } from 'node:child_process';
import { once } from 'node:events';

/** Lets a process run for half of the time. */
export interface DutyCycle {
  /** Resolves when the process runs freely again. Idempotent. */
  stop(): Promise<void>;
}

/** In a process of its own, which lets go of `pid` when this process is gone, too. */
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
