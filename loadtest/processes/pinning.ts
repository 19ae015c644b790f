import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The server's core, and that of everything else. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

/** Whether processes can be kept on a core: there is `taskset`, and more than one core. */
export const canPin: boolean = availableParallelism() > 1 && hasTaskset();

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The command line that runs `command` on `core` alone; where that cannot be, as it is. */
export function pinned(core: number, command: readonly string[]): readonly [string, ...string[]] {
  const line = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return line as readonly [string, ...string[]];
}

/** Keeps this process, and what it starts from now on, on one core. */
export function pinThisProcess(core: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-cp', String(core), String(process.pid)], { stdio: 'ignore' });
}
