import type { ServerProcess } from '../processes/server-process.ts';
import type { Scope } from '../runner/scope.ts';
import { recordsAhead } from '../story/flood/flood.ts';
import { singlePod } from '../story/pods/pod-set.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import type { Phases } from '../story/result.ts';
import { runStory } from '../story/run.ts';
import type { StoryOptions } from '../story/run.ts';
import { buildForBrowsers } from './browser-build.ts';
import { figuresOf, rowsOf, shortfallsOf } from './figures.ts';
import type { Figures } from './figures.ts';
import { SEMI_SPACE_MEGABYTES, rungs, semiSpacePod } from './rungs.ts';

/** Name of the last part. It is not a rung. */
const SEMI_SPACES = 'semi-spaces';

/** Names for `--parts`, in the order in which they run. */
export const PARTS: readonly string[] = [...rungs.filter(({ pod }) => pod).map(({ name }) => name), SEMI_SPACES];

/**
 * The talk's pods get a sixth of crier's records in flight. They take a record only after the previous one has been delivered, so
 * more records would only wait in Kafka and lengthen the drain.
 */
const TALK_AHEAD_DIVISOR = 6;

export interface ClimbOptions extends StoryOptions {
  readonly phases: Phases;
  /** Names from PARTS. */
  readonly parts: readonly string[];
  readonly say: (line: string) => void;
}

export type Climb = Awaited<ReturnType<typeof climb>>;

/** Plays the story with each pod in turn, from the talk's baseline to crier. Faults: losses, failed runs, and promised ratios that crier misses. @throws the signal's reason. */
export async function climb(options: ClimbOptions, scope: Scope) {
  const { parts } = options;
  await buildForBrowsers();
  const faults: string[] = [];
  const figures = new Map<string, Figures>();
  for (const { name, pod } of rungs) {
    const measured = pod && parts.includes(name) && (await play(pod, options, faults, scope));
    if (measured) figures.set(name, measured);
  }
  const semiSpaces: { megabytes: number; measured: Figures }[] = [];
  for (const megabytes of parts.includes(SEMI_SPACES) ? SEMI_SPACE_MEGABYTES : []) {
    const measured = await play(semiSpacePod(megabytes), options, faults, scope);
    if (measured) semiSpaces.push({ megabytes, measured });
  }
  const rows = rowsOf(rungs, figures);
  return { rows, semiSpaces, faults: [...shortfallsOf(rows), ...faults] };
}

/** Returns undefined after a failed run, whose reason it adds to `faults`. The other pods can still run. */
async function play(pod: Pod, options: ClimbOptions, faults: string[], scope: Scope): Promise<Figures | undefined> {
  const { phases, sockets, signal, say } = options;
  say(`${pod.title} ...`);
  const ahead = Math.ceil(recordsAhead(sockets) / (pod.script === crierPod.script ? 1 : TALK_AHEAD_DIVISOR));
  try {
    // A collection first: the plateau is live memory, without the garbage of the handshakes, which depends on the semi-space size.
    const onConnected = (server: ServerProcess) => server.keptBytes();
    const result = await runStory(singlePod(pod), phases, { ...options, ahead, onConnected }, scope);
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
