import { mkdir, writeFile } from 'node:fs/promises';
import { barChart } from './chart.ts';
import type { Bar } from './chart.ts';
import { markdownTable, titleOf } from './report.ts';
import { stalledOutcome } from './summary.ts';
import type { Row } from './summary.ts';
import type { Sample } from './trial.ts';

const FOLDER = 'loadtest/results';

export interface Results {
  /** What makes the run: date, machine, versions, flags. */
  readonly conditions: Readonly<Record<string, string | number | boolean>>;
  readonly rows: readonly Row[];
  readonly faults: readonly string[];
  readonly rounds: readonly (readonly Sample[])[];
}

/** Writes `<name>.json`, `.md` and `.svg`, and returns their paths. */
export async function writeResults(name: string, results: Results): Promise<string[]> {
  const files = {
    [`${FOLDER}/${name}.json`]: `${JSON.stringify(results, null, 2)}\n`,
    [`${FOLDER}/${name}.md`]: markdown(name, results),
    [`${FOLDER}/${name}.svg`]: picture(results),
  };
  await mkdir(FOLDER, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(path, text);
  return Object.keys(files);
}

function markdown(name: string, { conditions, rows, faults, rounds }: Results): string {
  const lines = Object.entries(conditions).map(([key, value]) => `- ${key}: ${value}`);
  const outcomes = rounds.flat().flatMap((sample) => stalledOutcome(sample) ?? []);
  const verdict = faults.length === 0 ? 'Every socket got what was published for it.' : faults.join('\n\n');
  return `# Results: ${name}

Medians of the rounds; each ratio is the median of the rounds' own ratios. K: events on their way at a time.

${markdownTable(rows)}
${[verdict, ...outcomes].join('\n\n')}

${lines.join('\n')}

![The same as a picture](${name}.svg)
`;
}

/** Two panels for each K: how many deliveries, and what one costs. */
function picture({ conditions, rows }: Results): string {
  const titleFor = ({ sockets, outstanding }: Row) => `${sockets} sockets, K = ${outstanding}`;
  const panels = [...new Set(rows.map(titleFor))].flatMap((title) => {
    const group = rows.filter((row) => titleFor(row) === title);
    return [
      {
        title: `${title}: deliveries per second`,
        bars: group.map((row) =>
          bar(row, row.deliveriesPerSecond, Math.round(row.deliveriesPerSecond).toLocaleString('en')),
        ),
      },
      {
        title: `${title}: server CPU per delivery, less is better`,
        bars: group.map((row) => bar(row, row.serverCpuUs, `${row.serverCpuUs.toFixed(1)} µs`)),
      },
    ];
  });
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, server on one core; ${conditions['date']}`;
  return barChart('One event, every socket: npm run bench:fanout', note, panels);
}

function bar({ contender }: Row, value: number, text: string): Bar {
  return { label: titleOf(contender), value, text, isOurs: contender.startsWith('crier') };
}
