import type { Graph, Samples } from '../graph-parts.ts';
import { sampleProblem } from './sample-problem.ts';
import { SEED, encoded } from './sampler.ts';

const MAX_RECORDS = 50;

type FirstSample = ReturnType<typeof encoded> & { readonly partition: number; readonly offset: string };

/** The first of a graph's sample records. */
export interface FirstSamples {
  /** Those that a field may read, by topic, at the offsets that the embedded mode gives them. */
  readonly topics: ReadonlyMap<string, readonly FirstSample[]>;
  /** Why nobody receives the others, each once. */
  readonly problems: readonly string[];
}

/** @throws what records() throws */
export function firstSamples(
  { records }: Pick<Samples, 'records'>,
  graph: Pick<Graph, 'bindings' | 'formats' | 'envelopes'>,
): FirstSamples {
  const topics = new Map<string, FirstSample[]>();
  const problems = new Set<string>();
  let offset = 0;
  let count = 0;
  for (const record of records(SEED)) {
    const problem = sampleProblem(record, graph);
    if (problem !== undefined) problems.add(problem);
    else {
      const sample = { ...encoded(record), partition: 0, offset: String(offset++) };
      topics.set(sample.topic, [...(topics.get(sample.topic) ?? []), sample]);
    }
    if (++count === MAX_RECORDS) break;
  }
  if (count === 0) problems.add('records() of samples.ts yields none, so no event will come; yield { topic, value }');
  return { topics, problems: [...problems] };
}
