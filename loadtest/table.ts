/** One line of a table; the first one holds the headings. */
export type Cells = readonly string[];

/** For a terminal: the first column to the left, and the last one where it holds words. */
export function textTable(lines: readonly Cells[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const last = widths.length - 1;
  const pad = (cell: string, column: number) =>
    column === 0 || (column === last && !/^[\d.,]+$/.test(cell))
      ? cell.padEnd(widths[column]!)
      : cell.padStart(widths[column]!);
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

export function markdownTable([headings, ...lines]: readonly Cells[]): string {
  const row = (cells: Cells) => `| ${cells.join(' | ')} |\n`;
  const rule = row(headings!.map((_, column) => (column === 0 ? '---' : '---:')));
  return row(headings!) + rule + lines.map(row).join('');
}
