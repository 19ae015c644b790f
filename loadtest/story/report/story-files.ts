import { mkdir, writeFile } from 'node:fs/promises';
import { storyPicture } from './charts.ts';
import { htmlReport } from './html-report.ts';
import type { Conditions } from '../../fanout/conditions.ts';
import type { StoryResult } from '../result.ts';

const FOLDER = 'loadtest/results';

/** Writes `<name>.json`, `.svg` and `.html`, and returns their paths. */
export async function writeStory(
  name: string,
  result: StoryResult,
  conditions: Conditions,
): Promise<{ json: string; svg: string; html: string }> {
  const paths = {
    json: `${FOLDER}/${name}.json`,
    svg: `${FOLDER}/${name}.svg`,
    html: `${FOLDER}/${name}.html`,
  };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(paths.json, json(result, conditions));
  await writeFile(paths.svg, storyPicture(result));
  await writeFile(paths.html, htmlReport(result, conditions));
  return paths;
}

/** One line per sample, so that diffs stay readable. */
function json({ samples, ...rest }: StoryResult, conditions: Conditions): string {
  const head = JSON.stringify({ conditions, ...rest }, null, 2).slice(0, -2);
  return `${head},\n  "samples": [\n${samples.map((sample) => `    ${JSON.stringify(sample)}`).join(',\n')}\n  ]\n}\n`;
}
