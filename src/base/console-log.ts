import { Console } from 'node:console';
import { Writable } from 'node:stream';
import type { Logger } from './log.ts';

/** Makes lines of the log of what libraries and modules of a graph print with `console`: ioredis warns there, as text. */
export function logConsole(log: Logger): void {
  const lines = (stream: 'stdout' | 'stderr', level: 'info' | 'warn') =>
    new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        log[level]({ stream }, text.trimEnd());
        done();
      },
    });
  globalThis.console = new Console({ stdout: lines('stdout', 'info'), stderr: lines('stderr', 'warn') });
}
