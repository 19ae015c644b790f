import { Writable } from 'node:stream';
import type { Logger } from './log.ts';

/**
 * Makes lines of the log of what libraries and modules of a graph print with `console`: ioredis warns there, as text. This replaces the
 * streams of the console, to which winston 3 writes itself, and not the console: a module may have imported its methods from `node:console`.
 */
export function logConsole(log: Logger): void {
  const lines = (stream: 'stdout' | 'stderr', level: 'info' | 'warn') =>
    new Writable({
      write: (bytes: Buffer, _encoding, done) => {
        // A stream keeps all later writes in memory until `done` is called, so nothing may throw before.
        done();
        log[level]({ stream }, bytes.toString().trimEnd());
      },
    });
  Object.assign(globalThis.console, { _stdout: lines('stdout', 'info'), _stderr: lines('stderr', 'warn') });
}
