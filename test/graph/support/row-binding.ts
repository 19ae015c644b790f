import type { Binding } from '../../../src/graph/schema/binding.ts';
import type { Match } from '../../../src/graph/schema/match.ts';

export const match = (path: string, isOptional = false): Match => ({ arg: path, path, isOptional });

/** The binding of a field that receives the changes of the topic `rows`, by the row's `id` unless `parts` says otherwise. */
export const rowBinding = (parts: Partial<Binding>): Binding => ({
  field: 'row',
  topics: ['rows'],
  envelope: 'DEBEZIUM',
  match: [match('id')],
  where: [],
  payload: [],
  isShared: true,
  tombstone: 'NULL',
  ...parts,
});
