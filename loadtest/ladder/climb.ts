import { recordsAhead } from '../story/flood/flood.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import type { PodProcess } from '../story/pods/pod-process.ts';
import type { Phases } from '../story/result.ts';
import { runStory } from '../story/run.ts';
import type { StoryOptions } from '../story/run.ts';
import { singlePod } from '../story/pods/pod-set.ts';
import { buildForBrowsers } from './browser-build.ts';
import { figuresOf, rowsOf, shortfallsOf } from './figures.ts';
import type { Figures, LadderRow } from './figures.ts';
import { rungs } from './rungs.ts';
import { SEMI_SPACE_MEGABYTES, semiSpacePod } from './semi-space.ts';
import type { SemiSpaceRow } from './semi-space.ts';

/** Names the last part, which is no rung. */
const SEMI_SPACES = 'semi-spaces';

/** What can be run, in this order. */
export const PARTS: readonly string[] = [...rungs.filter(({ pod }) => pod).map(({ name }) => name), SEMI_SPACES];

/**
 * The talk's pods take a record when the one before has been delivered: what is ahead of them waits in Kafka, so that more of it
 * changes nothing, but would have to be waited for at the end.
 */
const LESS_AHEAD = 6;

export interface ClimbOptions extends StoryOptions {
  readonly phases: Phases;
  /** Of PARTS. */
  readonly parts: readonly string[];
  /** One line each: what starts, and its figures. */
  readonly say: (line: string) => void;
}

export interface Climb {
  readonly rows: readonly LadderRow[];
  readonly semiSpaces: readonly SemiSpaceRow[];
  /** What was lost or could not be run, and where crier is not as far ahead as promised. */
  readonly faults: readonly string[];
}

/** Plays the story with one pod after the other, from the talk's baseline to crier. @throws the signal's reason. */
export async function climb(options: ClimbOptions): Promise<Climb> {
  const { parts } = options;
  await buildForBrowsers();
  const faults: string[] = [];
  const figures = new Map<string, Figures>();
  for (const { name, pod } of rungs) {
    const measured = pod && parts.includes(name) && (await play(pod, options, faults));
    if (measured) figures.set(name, measured);
  }
  const semiSpaces: SemiSpaceRow[] = [];
  for (const megabytes of parts.includes(SEMI_SPACES) ? SEMI_SPACE_MEGABYTES : []) {
    const measured = await play(semiSpacePod(megabytes), options, faults);
    if (measured) semiSpaces.push({ megabytes, measured });
  }
  const rows = rowsOf(rungs, figures);
  return { rows, semiSpaces, faults: [...shortfallsOf(rows), ...faults] };
}

/** undefined: it failed, and the faults say how; the others can still be run. */
async function play(pod: Pod, options: ClimbOptions, faults: string[]): Promise<Figures | undefined> {
  const { phases, sockets, signal, say } = options;
  say(`${pod.title} ...`);
  const ahead = Math.ceil(recordsAhead(sockets) / (pod.script === crierPod.script ? 1 : LESS_AHEAD));
  try {
    // Collected: the plateau is what is kept, not what connecting left behind in a young generation of whatever size.
    const onConnected = (server: PodProcess) => server.keptBytes();
    const result = await runStory(singlePod(pod), phases, { ...options, ahead, onConnected });
    const figures = figuresOf(result);
    if (figures.sent === 0) throw new Error(`${pod.title}: no message reached a socket: make --flood longer`);
    faults.push(...result.faults.map((fault) => `${pod.title}: ${fault}`));
    const { sentPerSecond, cpuUs, idleMegabytes, clientCpuPercent } = figures;
    say(
      `${pod.title}: ${Math.round(sentPerSecond).toLocaleString('en')} messages/s, ${cpuUs.toFixed(1)} µs of CPU each, ` +
        `${idleMegabytes.toFixed(0)} MB idle; client CPU ${clientCpuPercent.toFixed(0)} %`,
    );
    return figures;
  } catch (error) {
    signal.throwIfAborted();
    faults.push((error as Error).message);
    say((error as Error).message);
    return undefined;
  }
}
