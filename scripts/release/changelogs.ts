import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { refuse } from './release.ts';
import type { Release } from './release.ts';

const UNRELEASED = 'Unreleased';

/** Each package's changelog has a section of the version, with a date and a line. Until `npm version` dates it, it is "Unreleased". */
export async function changelogs(release: Release): Promise<string> {
  const files = release.packages.map(({ folder }) => join(folder, 'CHANGELOG.md'));
  const sections = await Promise.all(
    files.map(async (file) => [file, sectionOf(await readFile(file, 'utf8'), release.version)] as const),
  );
  refuse(sections.flatMap(([file, { problem }]) => (problem ? [`${file}: ${problem}`] : [])));
  const undated = sections.filter(([, { date }]) => date === undefined).map(([file]) => file);
  if (undated.length > 0)
    release.leaveToOwner(`not dated: "${UNRELEASED}" of ${undated.join(', ')}: \`npm version <version>\` dates it`);
  return sections.map(([, { lines }]) => lines).join(', ') + ' lines';
}

export interface Section {
  /** `2026-11-30`; undefined: the section is "Unreleased". */
  readonly date?: string | undefined;
  /** Changes that it has. */
  readonly lines: number;
  readonly problem?: string;
}

export function sectionOf(changelog: string, version: string, today = new Date()): Section {
  const sections = changelog.split(/^## /m).slice(1);
  const named = (word: string) => sections.find((text) => text.split(/\s/, 1)[0] === word);
  const section = named(version) ?? named(UNRELEASED);
  if (!section) return { lines: 0, problem: `add a section "## ${UNRELEASED}" with what has changed` };
  const [title = ''] = section.split('\n', 1);
  const lines = section.match(/^- \S/gm)?.length ?? 0;
  if (lines === 0) return { lines, problem: `"${title}" has no line: say what has changed` };
  if (title === UNRELEASED) return { lines };
  const date = title.slice(version.length).replace(/^ - /, '');
  const time = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) : NaN;
  if (!(time <= today.getTime()))
    return { lines, problem: `"${title}" has no date of the past: write "${version} - 2026-11-30"` };
  return { lines, date };
}
