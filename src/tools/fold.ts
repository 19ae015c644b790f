/**
 * Breaks a line at spaces where the terminal is narrower, and indents what follows. Files and pipes get it whole, so that `grep` finds it.
 * @param indent of the following lines, in characters
 */
export function fold(stream: NodeJS.WriteStream, line: string, indent: number): string {
  // `columns` is missing where the stream is a file or a pipe, and 0 in some terminals.
  const width = (stream.columns as number | undefined) || Infinity;
  const lines: string[] = [];
  let left = line;
  while (left.length > width) {
    let space = left.lastIndexOf(' ', width);
    if (left.slice(0, space).trim() === '') space = left.indexOf(' ', width);
    if (space < 0) break;
    lines.push(left.slice(0, space));
    left = ' '.repeat(indent) + left.slice(space + 1);
  }
  return [...lines, left].join('\n');
}
