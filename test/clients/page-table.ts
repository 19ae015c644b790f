import { readFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { CLIENTS_PAGE } from './client.ts';
import type { Driver } from './drivers.ts';
import { COLUMNS } from './matrix.ts';
import type { Column, Row } from './matrix.ts';

const [BEGIN, END] = ['<!-- clients:matrix -->', '<!-- end -->'];
const HEAD = ['client', 'transport', ...COLUMNS];

/** A row of the page. */
export interface PageRow extends Row {
  readonly client: string;
  readonly transport: string;
}

/** The page with another table, and the reasons below it. A row of the page keeps its versions. */
export async function withTable(page: string, rows: readonly (readonly [Driver, Partial<PageRow>])[]): Promise<string> {
  const reasons: string[] = [];
  const cellOf = ({ reasons: own = {} }: Driver, row: Partial<PageRow>, column: Column) => {
    const reason = own[column];
    if (reason === undefined) return row[column] ?? '';
    if (!reasons.includes(reason)) reasons.push(reason);
    return `${row[column] ?? '—'} ${reasons.indexOf(reason) + 1}`;
  };
  const lines = rows.map(([driver, row]) => [
    row.client ?? `${driver.name} ${driver.version()}`,
    driver.transport,
    ...COLUMNS.map((column) => cellOf(driver, row, column)),
  ]);
  const table = [HEAD, HEAD.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  const list = reasons.map((reason, index) => `${index + 1}. ${reason}`);
  const [before, rest] = page.split(BEGIN);
  if (rest === undefined) throw new Error(`${CLIENTS_PAGE} has no ${BEGIN}`);
  const after = rest.slice(rest.indexOf(END));
  const text = `${before}${BEGIN}\n\n${table.join('\n')}\n\n${list.join('\n')}\n\n${after}`;
  return format(text, { ...(await resolveConfig(CLIENTS_PAGE)), parser: 'markdown' });
}

/** The rows of the page's table, without the numbers of reasons. */
export async function rowsOfPage(): Promise<PageRow[]> {
  const page = await readFile(CLIENTS_PAGE, 'utf8');
  const table = page.slice(page.indexOf(BEGIN), page.indexOf(END));
  const [, , ...lines] = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) => {
    const cells = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return Object.fromEntries(
      HEAD.map((name, index) => [name, index < 2 ? cells[index]! : cells[index]!.replace(/ \d+$/, '')]),
    ) as unknown as PageRow;
  });
}
