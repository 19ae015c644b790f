import type { Writable } from 'node:stream';
import { paint } from './paint.ts';
import type { Colour } from './paint.ts';
import { escapeHidden } from './visible.ts';

/** Fields that are the same in each line of a process. */
const OF_THE_POD = ['pod', 'role', 'version'];
const COLOURS: Readonly<Record<string, Colour>> = { warn: 'yellow', error: 'red', fatal: 'red' };

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg?: string;
  readonly err?: unknown;
}

/**
 * A log line as a person reads it: the local time, the level, the message, the other fields, and below them the error; its stack from the
 * level `error` on.
 * @param json the line as JSON
 * @param stream where it is written to: a terminal shows colours
 */
export function textLine(json: string, stream: Writable): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Line;
  const others = Object.entries(fields).filter(([name]) => !OF_THE_POD.includes(name));
  const first = [
    paint(stream, 'dim', new Date(time).toTimeString().slice(0, 8)),
    paint(stream, COLOURS[level] ?? 'dim', level.padEnd(5)),
    indented(msg),
    ...others.map(([name, value]) => paint(stream, 'dim', `${escapeHidden(name)}=${valueText(value)}`)),
  ];
  const error = err === undefined ? [] : [`  ${paint(stream, COLOURS[level] ?? 'dim', errorText(err, level))}`];
  return `${[first.join(' '), ...error].join('\n')}\n`;
}

/** A word as it is, everything else as JSON. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : escapeHidden(JSON.stringify(value));
}

function errorText(error: unknown, level: string): string {
  if (typeof error !== 'object' || error === null) return valueText(error);
  const { type = 'Error', message, stack } = error as Readonly<Record<string, string | undefined>>;
  if (stack !== undefined && (level === 'error' || level === 'fatal')) return indented(stack);
  return message === undefined ? valueText(error) : indented(`${type}: ${message}`);
}

/** Further lines of a text begin below its first. */
function indented(text: string): string {
  return escapeHidden(text).replaceAll('\n', '\n  ');
}
