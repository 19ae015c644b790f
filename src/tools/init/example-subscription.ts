import { valueAt } from '../../base/json/value-at.ts';
import type { InferredGraph } from './inferred-graph.ts';
import type { InferredObject } from './inferred-types.ts';
import type { SeenRecord } from './seen-record.ts';
import { escapeHidden } from '../../base/visible.ts';

const MAX_FIELDS = 4;
const MAX_KEY_LENGTH = 40;
const MAX_LEVELS = 5;

/** A subscription that the last of the records is an event of. */
export function exampleSubscription(
  { field, all, object, payload, keys }: InferredGraph,
  records: readonly SeenRecord[],
): string {
  const values = keys.flatMap(({ argument, path, type }) => {
    const value = valueAt(records.at(-1)!.payload, [...payload, ...path]);
    return value === undefined || value === null ? [] : [`${argument}: ${literal(value, type)}`];
  });
  const args = values.length > 0 ? `(${values.join(', ')})` : '';
  const isShort = args.length <= MAX_KEY_LENGTH * values.length;
  // The arguments are required where there is another field without them.
  if (all !== undefined && !(isShort && values.length === keys.length)) return subscriptionOf(all, object);
  return subscriptionOf(`${field}${isShort ? args : ''}`, object);
}

function subscriptionOf(field: string, object: InferredObject | undefined): string {
  return `subscription { ${field}${object ? ` ${selection(object, MAX_LEVELS)}` : ''} }`;
}

function literal(value: unknown, type: string): string {
  const isBare = type === 'Int' || type === 'Float' || type === 'Boolean';
  return isBare ? String(value) : escapeHidden(JSON.stringify(String(value)));
}

/** Its first scalars, else those of its first object. */
function selection({ fields }: InferredObject, levels: number): string {
  const leaves = fields.filter(({ object }) => object === undefined).slice(0, MAX_FIELDS);
  if (leaves.length > 0) return `{ ${leaves.map(({ name }) => name).join(' ')} }`;
  const [first] = fields;
  // A type may contain itself alone.
  return levels === 0 ? '{ __typename }' : `{ ${first!.name} ${selection(first!.object!, levels - 1)} }`;
}
