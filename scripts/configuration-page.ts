import { settingGroupRows, unitOf } from '../src/config/setting-rows.ts';
import type { SettingRow } from '../src/config/setting-rows.ts';

/** Returns the page with tables of settings generated from `src/config/variables.ts`, formatted as prettier formats them. */
export function withSettings(page: string): string {
  const parts = Array.from(settingGroupRows(), ([title, rows]) => `## ${title}\n\n${tableOf(rows)}`);
  return `${page.slice(0, page.indexOf('## '))}${parts.join('\n')}`;
}

function tableOf(settings: readonly SettingRow[]): string {
  const rows = settings.map(({ name, default: fallback, unit, meaning, isTunable }) => [
    `\`${name}\``,
    [fallback && `\`${fallback}\``, fallback ? unitOf(fallback, unit) : unit].filter(Boolean).join(' '),
    // A bar would end the cell.
    (isTunable ? `${meaning} Tunable.` : meaning).replaceAll('|', '\\|'),
  ]);
  const table = [['variable', 'default', 'meaning'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  lines.splice(1, 0, rule);
  return `${lines.join('\n')}\n`;
}
