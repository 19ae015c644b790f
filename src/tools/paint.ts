import { styleText } from 'node:util';

/** The text in a colour where the stream is a terminal that shows it (`NO_COLOR` and `FORCE_COLOR` are respected), else unchanged. */
export function paint(stream: NodeJS.WriteStream, colour: Parameters<typeof styleText>[0], text: string): string {
  // `isTTY` is missing where the stream is a file or a pipe; `hasColors` then is, too.
  return (stream.isTTY as boolean | undefined) && stream.hasColors() ? styleText(colour, text) : text;
}

/** Prints a line in a colour. */
export function say(colour: Parameters<typeof styleText>[0], text: string): void {
  process.stdout.write(`${paint(process.stdout, colour, text)}\n`);
}
