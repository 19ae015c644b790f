import type { Conditions } from '../../fanout/conditions.ts';
import { writeResult } from '../../result-files.ts';
import { phaseSpreads } from '../phase-spreads.ts';
import type { PhaseSpread } from '../phase-spreads.ts';
import type { StoryResult } from '../result.ts';
import { storyPicture } from './charts.ts';
import { htmlReport } from './html-report.ts';

/** The JSON file of a story. */
export interface StoryFigures extends Omit<StoryResult, 'samples'> {
  readonly conditions: Conditions;
  readonly spreads: readonly PhaseSpread[];
}

/** Writes `<name>.json`, `.svg` and `.html`, and returns their paths. */
export async function writeStory(
  name: string,
  result: StoryResult,
  conditions: Conditions,
): Promise<{ json: string; svg: string; html: string }> {
  const { samples, ...rest } = result;
  const figures: StoryFigures = { conditions, ...rest, spreads: phaseSpreads(samples) };
  const texts = { svg: storyPicture(result), html: htmlReport(result, conditions) };
  const [json, svg, html] = (await writeResult(name, figures, texts)) as [string, string, string];
  return { json, svg, html };
}
