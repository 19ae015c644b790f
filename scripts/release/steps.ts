import type { Release } from './release.ts';

export interface Step {
  readonly name: string;
  /** Returns what it found, in a few words. @throws Error whose message names the mend */
  readonly run: (release: Release) => string | Promise<string>;
  /** What to try after an error of a program that the step runs. */
  readonly fix?: string;
}

/**
 * Runs the steps, and prints a line for each. Each step of a group runs, even after a failed one; a group after a failed one does not.
 * @returns whether all passed
 */
export async function runSteps(
  groups: readonly (readonly Step[])[],
  release: Release,
  print: (line: string) => void,
): Promise<boolean> {
  for (const group of groups) {
    let hasFailed = false;
    for (const { name, run, fix } of group) {
      const start = performance.now();
      const line = (result: string, found: string) => {
        const seconds = ((performance.now() - start) / 1000).toFixed(1);
        print(`${result.padEnd(6)} ${seconds.padStart(6)} s  ${name.padEnd(11)} ${found}`);
      };
      try {
        line('ok', await run(release));
      } catch (error) {
        hasFailed = true;
        const [first = '', ...others] = (error as Error).message.split('\n');
        line('FAILED', first);
        for (const other of fix === undefined ? others : [...others, fix]) print(`                  ${other}`);
      }
    }
    if (hasFailed) return false;
  }
  return true;
}
