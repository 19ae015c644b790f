import { say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import type { Conditions } from './fanout/conditions.ts';
import { writeResult } from './result-files.ts';
import { markdownTable, textTable } from './table.ts';

export interface FaultReport {
  /** Begins each fault on standard error. */
  readonly command: string;
  /** Of the result files. */
  readonly name: string;
  /** Values of the command's flags. */
  readonly flags: object;
  readonly table: string[][];
  /** Said if there is no fault. */
  readonly success: string;
  readonly faults: readonly string[];
  /** What the JSON file has beside conditions and faults: summaries, not single measurements. */
  readonly data: object;
  /** An SVG picture of the same; default: none. */
  readonly picture?: (conditions: Conditions) => string;
}

/** Writes the result files of a benchmark that fails for faults, prints them, and sets the exit code. */
export async function publishFaults({
  command,
  name,
  flags,
  table,
  success,
  faults,
  data,
  picture,
}: FaultReport): Promise<void> {
  const flagsText = Object.entries(flags)
    .map(([flag, value]) => `--${flag} ${value}`)
    .join(' ');
  const conditions = { ...conditionsOf(['node_modules/ws', 'node_modules/graphql']), flags: flagsText };
  const distinct = [...new Set(faults)];
  const verdict = distinct.length === 0 ? success : distinct.join('\n\n');
  const embedded = picture ? `\n![The same as a picture](${name}.svg)\n` : '';
  const md = `# Results: ${name}\n\n${markdownTable(table)}\n${verdict}\n\n${conditionsList(conditions)}${embedded}`;
  const texts = { md, ...(picture && { svg: picture(conditions) }) };
  const paths = await writeResult(name, { conditions, ...data, faults }, texts);
  process.stdout.write(`\n${textTable(table)}\n${paths.join(' ')}\n`);
  for (const fault of distinct) say(`${command}: ${fault}`);
  if (distinct.length > 0) process.exitCode = 1;
}
