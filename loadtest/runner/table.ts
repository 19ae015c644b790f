/** One line of a table. The first line has the headings. */
export type Cells = readonly string[];

/** A table for a terminal. The first column, and a last column of words, are left-aligned. */
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
