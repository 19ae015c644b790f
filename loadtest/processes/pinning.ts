import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The core of the server, and the core of everything else. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

/** Whether processes can be pinned: `taskset` exists, and the machine has more than one core. */
export const canPin: boolean = availableParallelism() > 1 && hasTaskset();

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A command line that pins `command` to `core`, or a list of cores; `command` itself if pinning is impossible. */
export function pinned(core: number | string, command: readonly string[]): readonly [string, ...string[]] {
  const line = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return line as readonly [string, ...string[]];
}

/** Pins this process and its later children to one core. */
export function pinThisProcess(core: number): void {
  if (canPin) execFileSync('taskset', ['-a', '-cp', String(core), String(process.pid)], { stdio: 'ignore' });
}
