import { settingRows } from '../src/config/setting-rows.ts';

/** Returns the page with a table of settings generated from `src/config/variables.ts`, formatted as prettier formats it. */
export function withSettings(page: string): string {
  const rows = settingRows().map(({ name, default: fallback, unit, meaning, isTunable }) => [
    `\`${name}\``,
    fallback && `\`${fallback}\``,
    unit,
    isTunable ? 'yes' : '',
    meaning,
  ]);
  const table = [['variable', 'default', 'unit', 'tunable', 'meaning'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  lines.splice(1, 0, rule);
  return page.replace(/(^\|.*\n)+/m, () => `${lines.join('\n')}\n`);
}
