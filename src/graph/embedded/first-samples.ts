import type { Samples } from '../graph-parts.ts';
import { SEED, encoded } from './sampler.ts';

const MAX_RECORDS = 50;

/** The first of a graph's sample records, by topic, at the offsets that the embedded mode gives them. */
export function firstSamples({ records }: Pick<Samples, 'records'>) {
  const topics = new Map<string, (ReturnType<typeof encoded> & { partition: number; offset: string })[]>();
  let offset = 0;
  for (const record of records(SEED)) {
    const sample = { ...encoded(record), partition: 0, offset: String(offset++) };
    topics.set(sample.topic, [...(topics.get(sample.topic) ?? []), sample]);
    if (offset === MAX_RECORDS) break;
  }
  return topics;
}
