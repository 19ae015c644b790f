import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { changeOf } from './change.ts';
import type { Change } from './change.ts';
import { changedLines } from './changed-lines.ts';
import { mutantsOf } from './mutants.ts';
import type { Mutant, SourceMutants } from './mutants.ts';

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly parsed: SourceMutants;
}

export interface Candidate {
  readonly source: Source;
  readonly mutant: Mutant;
  readonly change: Change;
}

export interface Candidates {
  readonly sources: readonly Source[];
  /** Mutants that are run, in the order of the files and their lines. */
  readonly sample: readonly Candidate[];
  /** Number of mutants from which the sample is drawn. */
  readonly total: number;
}

export interface Filter {
  /** The end of a file's path: `redis-bus.ts`. */
  readonly file: string | undefined;
  readonly onlyChanged: boolean;
  /** Largest number of mutants to run. */
  readonly limit: number | undefined;
  readonly seed: number;
}

/** The mutants of `src/<folder>`. @throws Error when the filters leave none. */
export async function findCandidates(folder: string, filter: Filter): Promise<Candidates> {
  const sources = await readSources(join('src', folder));
  const changed = filter.onlyChanged ? await changedLines(join('src', folder)) : undefined;
  const all = sources
    .filter(({ file }) => filter.file === undefined || file.endsWith(`/${filter.file}`))
    .flatMap((source) =>
      source.parsed.mutants.map((mutant) => ({ source, mutant, change: changeOf(source.text, mutant) })),
    )
    .filter(({ mutant, change }) => !changed || changed.get(mutant.file)?.has(change.line));
  if (all.length === 0) throw new Error(`nothing to mutate in src/${folder} with these flags`);
  return { sources, sample: draw(all, filter), total: all.length };
}

async function readSources(folder: string): Promise<Source[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.d)\.ts$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8');
      return { file, text, parsed: mutantsOf(file, text) };
    }),
  );
}

function draw(all: readonly Candidate[], { limit, seed }: Filter): readonly Candidate[] {
  if (limit === undefined || limit >= all.length) return all;
  const indexes = fc.shuffledSubarray([...all.keys()], { minLength: limit, maxLength: limit });
  const [drawn] = fc.sample(indexes, { seed, numRuns: 1 });
  return drawn!.sort((a, b) => a - b).map((index) => all[index]!);
}
