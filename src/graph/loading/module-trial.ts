import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { GraphError } from '../../base/errors.ts';
import { lowerPriority } from './compile.ts';

/** Compiled modules of a graph. */
export interface Trial {
  readonly folder: string;
  /** Code by absolute file name. */
  readonly sources: Readonly<Record<string, string>>;
  /** Absolute file names. */
  readonly entries: readonly string[];
}

const TIMEOUT_MS = 20_000;

/**
 * Imports the modules in a process of its own: one that loops for ever, or ends the process, would take all clients of the pod with it.
 * @throws GraphError if they do not end, or end the process
 */
export async function tryModules(trial: Trial, timeoutMs = TIMEOUT_MS): Promise<void> {
  const child = fork(fileURLToPath(new URL('./trial-process.js', import.meta.url)), { stdio: 'ignore', execArgv: [] });
  lowerPriority(child.pid);
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (what: string) => reject(new GraphError(`a module of the graph ${what}`));
      timer = setTimeout(() => fail(`has not been loaded within ${timeoutMs} ms: it loops, or waits`), timeoutMs);
      child.once('message', () => resolve());
      child.once('error', reject);
      // Not `exit`, which a busy event loop may emit before a message that was sent earlier.
      child.once('close', (code, signal) => fail(`ended the process that tried it (${String(code ?? signal)})`));
      child.send(trial);
    });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
