import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';

const run = promisify(execFile);

/** `pid command` of the processes of a group that still run after `graceMs`. */
export async function groupMembers(group: number, graceMs: number): Promise<string[]> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const { stdout } = await run('ps', ['-A', '-o', 'pgid=,pid=,stat=,args='], { maxBuffer: 64 * 1024 * 1024 });
    const members = stdout
      .split('\n')
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
      .filter((match) => match && Number(match[1]) === group && !match[3]!.startsWith('Z'))
      .map((match) => `${match![2]} ${match![4]}`);
    if (members.length === 0 || performance.now() > deadline) return members;
    await delay(100);
  }
}

/** Sends a signal to all processes of a group. Does nothing if none is left. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
