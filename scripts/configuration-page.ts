import { variables } from '../src/variables.ts';

/** Settings of backends. The graph names the backends, so `src/variables.ts` does not list them. */
const BACKEND_ROWS = [
  [
    '`BACKEND_<NAME>_URL`',
    '',
    '',
    'Base URL of a backend: `consumerListingIntake` is `BACKEND_CONSUMER_LISTING_INTAKE_URL`.',
  ],
  [
    '`BACKEND_<NAME>_FORWARD_AUTHORIZATION`',
    '`false`',
    '',
    "Whether crier forwards the caller's Authorization header.",
  ],
];

/** Returns the page with a table of settings generated from `src/variables.ts`, formatted as prettier formats it. */
export function withSettings(page: string): string {
  const rows = Object.entries(variables).map(([name, { default: fallback, unit, meaning }]) => [
    `\`${name}\``,
    fallback && `\`${fallback}\``,
    unit,
    meaning,
  ]);
  const table = [['variable', 'default', 'unit', 'meaning'], ...rows, ...BACKEND_ROWS];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  lines.splice(1, 0, rule);
  return page.replace(/(^\|.*\n)+/m, () => `${lines.join('\n')}\n`);
}
