import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Logger } from '../../src/base/log.ts';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly [key: string]: unknown;
}

/** A logger whose lines can be read: `lines` parsed, `text()` as written. */
export function logLines(): { readonly log: Logger; readonly lines: LogLine[]; readonly text: () => string } {
  const written: string[] = [];
  const lines: LogLine[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString());
      lines.push(JSON.parse(chunk.toString()) as LogLine);
      done();
    },
  });
  return { log: pino({ level: 'trace' }, sink), lines, text: () => written.join('') };
}
