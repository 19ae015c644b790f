import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Changed lines of the working tree since this branch left main, by file. Line numbers start at 1. */
export async function changedLines(folder: string): Promise<Map<string, Set<number>>> {
  const { stdout } = await promisify(execFile)('git', ['diff', '--merge-base', 'main', '-U0', '--', folder], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return linesOfDiff(stdout);
}

/** Changed lines in the output of `git diff -U0`. */
export function linesOfDiff(diff: string): Map<string, Set<number>> {
  const files = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) files.set(file, (lines = new Set()));
    const hunk = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (!hunk) continue;
    const first = Number(hunk[1]);
    for (let at = first; at < first + Number(hunk[2] ?? 1); at++) lines.add(at);
  }
  return files;
}
