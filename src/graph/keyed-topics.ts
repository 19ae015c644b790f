import { isKeyPart, isRecordPart } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';

/** The topics whose fields need the decoded keys of records. */
export function keyedTopics(bindings: Iterable<Binding>): ReadonlySet<string> {
  return new Set([...bindings].flatMap((binding) => (needsKey(binding) ? binding.topics : [])));
}

function needsKey({ match, where, tombstone, state, record, envelope, pace }: Binding): boolean {
  if (envelope !== undefined || record?.key || pace?.isOfChannel === false || match.some(({ path }) => isKeyPart(path)))
    return true;
  return (
    (tombstone !== undefined || state !== undefined) && [...match, ...where].some(({ path }) => !isRecordPart(path))
  );
}
