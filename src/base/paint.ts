import type { Writable } from 'node:stream';
import { styleText } from 'node:util';

export type Colour = Parameters<typeof styleText>[0];

/** The text in a colour where the stream is a terminal that shows it (`NO_COLOR` and `FORCE_COLOR` are respected), else unchanged. */
export function paint(stream: Writable, colour: Colour, text: string): string {
  // Only the stream of a terminal has these.
  const terminal = stream as Partial<NodeJS.WriteStream>;
  if (!terminal.isTTY || !terminal.hasColors?.()) return text;
  // By default Node looks at standard output, whatever the stream is.
  return styleText(colour, text, { validateStream: false });
}

/** Prints a line in a colour. */
export function say(colour: Colour, text: string): void {
  process.stdout.write(`${paint(process.stdout, colour, text)}\n`);
}
