import { mkdir, writeFile } from 'node:fs/promises';
import { conditionsOf } from '../fanout/conditions.ts';
import type { Pod } from '../story/pod.ts';
import type { Phases } from '../story/result.ts';
import { runStory } from '../story/run.ts';
import type { StoryOptions } from '../story/run.ts';
import { buildForBrowsers } from './browser-build.ts';
import { figuresOf, rowsOf, shortfallsOf } from './figures.ts';
import type { Figures } from './figures.ts';
import { ladderPicture } from './picture.ts';
import { ladderTable, markdownReport, semiSpaceTable, textTable } from './report.ts';
import type { Report } from './report.ts';
import { rungs } from './rungs.ts';
import { SEMI_SPACE_MEGABYTES, semiSpacePod } from './semi-space.ts';
import type { SemiSpaceRow } from './semi-space.ts';

/** All of it, with 4,000 sockets on two cores, in about twelve minutes. */
export const LADDER_PHASES: Phases = { bareSeconds: 2, idleSeconds: 6, floodSeconds: 12 };

/** Names the last part, which is no rung. */
const SEMI_SPACES = 'semi-spaces';
export const LADDER_PARTS: readonly string[] = [...rungs.filter(({ pod }) => pod).map(({ name }) => name), SEMI_SPACES];

export interface LadderOptions extends StoryOptions {
  readonly phases: Phases;
  /** Of LADDER_PARTS. */
  readonly parts: readonly string[];
  /** One line each: what starts, and its figures. */
  readonly say: (line: string) => void;
}

/** Plays the story with one pod after the other, from the talk's baseline to crier. @throws what `runStory` throws. */
export async function runLadder(options: LadderOptions): Promise<Report> {
  const { parts, phases, sockets, say } = options;
  await buildForBrowsers();
  const play = async (pod: Pod): Promise<Figures> => {
    say(`${pod.title} ...`);
    const figures = figuresOf(await runStory(pod, phases, options));
    const { sentPerSecond, cpuUs, idleMegabytes, clientCpuPercent } = figures;
    say(
      `${pod.title}: ${Math.round(sentPerSecond).toLocaleString('en')} messages/s, ${cpuUs.toFixed(1)} µs of CPU each, ` +
        `${idleMegabytes.toFixed(0)} MB idle; client CPU ${clientCpuPercent.toFixed(0)} %`,
    );
    return figures;
  };
  const figures = new Map<string, Figures>();
  for (const { name, pod } of rungs) if (pod && parts.includes(name)) figures.set(name, await play(pod));
  const semiSpaces: SemiSpaceRow[] = [];
  for (const megabytes of parts.includes(SEMI_SPACES) ? SEMI_SPACE_MEGABYTES : []) {
    semiSpaces.push({ megabytes, measured: await play(semiSpacePod(megabytes)) });
  }
  const rows = rowsOf(rungs, figures);
  const { bareSeconds, idleSeconds, floodSeconds } = phases;
  return {
    conditions: {
      ...conditionsOf(),
      sockets,
      phases: `${bareSeconds} s bare, ${idleSeconds} s idle, ${floodSeconds} s flood`,
    },
    rows,
    semiSpaces,
    shortfalls: shortfallsOf(rows),
  };
}

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

/** For a terminal. */
export function ladderText({ rows, semiSpaces, shortfalls }: Report): string {
  const tables = [
    textTable(ladderTable(rows)),
    ...(semiSpaces.length > 0 ? [textTable(semiSpaceTable(semiSpaces))] : []),
  ];
  return `${tables.join('\n')}${shortfalls.map((line) => `${line}\n`).join('')}`;
}
