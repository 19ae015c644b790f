import { mkdir, writeFile } from 'node:fs/promises';
import { ladderPicture } from './picture.ts';
import { markdownReport } from './report.ts';
import type { Report } from './report.ts';

const FOLDER = 'loadtest/results';

/** Writes `<name>.json`, `.md` and `.svg`, and returns their paths. */
export async function writeLadder(name: string, report: Report): Promise<string[]> {
  const { conditions, rows } = report;
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, ${conditions['sockets']} sockets; ${conditions['date']}`;
  const files = {
    [`${FOLDER}/${name}.json`]: `${JSON.stringify(report, null, 2)}\n`,
    [`${FOLDER}/${name}.md`]: markdownReport(name, report),
    [`${FOLDER}/${name}.svg`]: ladderPicture(rows, note),
  };
  await mkdir(FOLDER, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(path, text);
  return Object.keys(files);
}
