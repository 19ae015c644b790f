import { valueAt } from '../../base/json/value-at.ts';
import type { InferredGraph } from './inferred-graph.ts';
import type { InferredObject } from './inferred-types.ts';
import type { SeenRecord } from './seen-record.ts';
import { escapeHidden } from '../../base/visible.ts';

const MAX_FIELDS = 4;
const MAX_KEY_LENGTH = 40;

/** A subscription that the last of the records is an event of. */
export function exampleSubscription(
  { field, object, payload, key }: InferredGraph,
  records: readonly SeenRecord[],
): string {
  const value = key && valueAt(records.at(-1)!.payload, [...payload, ...key.path]);
  const argument = key && value !== undefined && value !== null ? `(${key.argument}: ${literal(value, key.type)})` : '';
  const isShort = argument.length <= MAX_KEY_LENGTH;
  return `subscription { ${field}${isShort ? argument : ''}${object ? ` ${selection(object)}` : ''} }`;
}

function literal(value: unknown, type: string): string {
  return type === 'Int' || type === 'Float' ? String(value) : escapeHidden(JSON.stringify(String(value)));
}

/** Its first scalars, else those of its first object. */
function selection({ fields }: InferredObject): string {
  const leaves = fields.filter(({ object }) => object === undefined).slice(0, MAX_FIELDS);
  if (leaves.length > 0) return `{ ${leaves.map(({ name }) => name).join(' ')} }`;
  const [first] = fields;
  return `{ ${first!.name} ${selection(first!.object!)} }`;
}
