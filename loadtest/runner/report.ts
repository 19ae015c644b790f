import { say } from './command.ts';
import { conditionsList } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { writeResult } from './result-files.ts';
import { markdownTable, textTable } from './table.ts';
import type { Cells } from './table.ts';

export interface Section {
  readonly title?: string;
  /** Before the table. */
  readonly intro?: string;
  readonly table: readonly Cells[];
  /** After the table, and printed. */
  readonly note?: string;
}

/** What a run has found. */
export interface Report {
  /** Below the title. */
  readonly intro?: string;
  readonly sections: readonly Section[];
  /** Said if there is no fault. */
  readonly success: string;
  /** They make the command exit with 1. */
  readonly faults: readonly string[];
  /** What the JSON file has beside conditions and faults, unless it has faults of its own: summaries, not single measurements. */
  readonly data: object;
  /** Beside those of every run. */
  readonly conditions?: Conditions;
  /** A picture of the same. */
  readonly svg?: string;
}

export interface Publication {
  /** Begins each fault on standard error. */
  readonly command: string;
  /** Of the result files. */
  readonly name: string;
  readonly conditions: Conditions;
}

/** Writes `<name>.json` and `<name>.md` to the results, and prints the report. Resolves with the exit code. */
export async function publish(report: Report, { command, name, conditions }: Publication): Promise<number> {
  const { sections, success, data, svg } = report;
  const faults = [...new Set(report.faults)];
  const verdict = faults.length === 0 ? success : faults.join('\n\n');
  const all = { ...conditions, ...report.conditions };
  const blocks = [
    `# Results: ${name}`,
    report.intro,
    ...sections.flatMap(({ title, intro, table, note }) => [
      title && `## ${title}`,
      intro,
      markdownTable(table).trimEnd(),
      note,
    ]),
    verdict,
    `## Conditions\n\n${conditionsList(all).trimEnd()}`,
    svg && `![The same as a picture](${name}.svg)`,
  ];
  const md = `${blocks.filter(Boolean).join('\n\n')}\n`;
  const paths = await writeResult(name, { conditions: all, faults, ...data }, { md, ...(svg && { svg }) });
  for (const { title, table, note } of sections) {
    process.stdout.write(`\n${title ? `${title}\n` : ''}${textTable(table)}${note ? `${note}\n` : ''}`);
  }
  process.stdout.write(`${faults.length === 0 ? `${success}\n` : ''}${paths.join(' ')}\n`);
  for (const fault of faults) say(`${command}: ${fault}`);
  return faults.length === 0 ? 0 : 1;
}
