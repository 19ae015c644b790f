import { readFile, writeFile } from 'node:fs/promises';

export const VERSIONS_PAGE = 'docs/operate/versions.md';

/** A row of the matrix on the page. */
export interface PageRow {
  readonly name: string;
  readonly passed: number;
  /** Of the run: `2026-12-01`. */
  readonly date: string;
}

const ROW = /^\| (.+?) +\| +([\d,]+) \| (\d{4}-\d\d-\d\d) \|$/gm;
const TABLE = /(?:^\|.*\|$\n?)+/m;

/** The rows of a page's section "Versions that are run". */
export function pageRows(page: string): PageRow[] {
  return Array.from(sectionOf(page).matchAll(ROW), ([, name, passed, date]) => {
    return { name: name!, passed: Number(passed!.replaceAll(',', '')), date: date! };
  });
}

/** Writes a row to the page. @param names of all rows, in their order; others go */
export async function writeRow(row: PageRow, names: readonly string[]): Promise<void> {
  const page = await readFile(VERSIONS_PAGE, 'utf8');
  const rows = new Map([...pageRows(page), row].map((one) => [one.name, one]));
  const section = sectionOf(page);
  await writeFile(
    VERSIONS_PAGE,
    page.replace(section, () => section.replace(TABLE, () => tableOf(rows, names))),
  );
}

function tableOf(rows: ReadonlyMap<string, PageRow>, names: readonly string[]): string {
  const width = Math.max(...names.map(({ length }) => length));
  const line = (name: string, tests: string, date: string) => `| ${name.padEnd(width)} | ${tests} | ${date} |\n`;
  const lines = names.flatMap((name) => {
    const row = rows.get(name);
    return row ? [line(name, row.passed.toLocaleString('en').padStart(12), row.date)] : [];
  });
  return (
    line('with', 'tests passed', 'date      ') + line('-'.repeat(width), '-----------:', '----------') + lines.join('')
  );
}

function sectionOf(page: string): string {
  return /^## Versions that are run\n[^]*?(?=^## )/m.exec(page)![0];
}
