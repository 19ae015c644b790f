import type { InferredGraph } from './inferred-graph.ts';

/** Says by what subscribers choose their events, and why. */
export function choiceText({ keys, isKeyed, keyMember }: InferredGraph): string {
  const name = keys.map(({ path }) => path.join('.')).join(' and ');
  const verb = keys.length > 1 ? 'are' : 'is';
  if (keys[0]?.isRecordKey)
    return `${name} ${verb} the key of the records, so the events of one subscription are in order.`;
  const fix =
    keyMember === undefined
      ? 'To choose by the key: match: [{ arg: "key", key: true }], and an argument key: String.'
      : `To choose by a member of the key: match: [{ arg: "id", key: ${JSON.stringify(keyMember)} }], and an argument id: ID.`;
  if (name !== '' && isKeyed) return `${name} was chosen for its name: no field equals the key of each record. ${fix}`;
  if (name !== '') return `${name} was chosen for its name: the records have no keys.`;
  if (isKeyed) return `No field equals the key of each record. ${fix}`;
  return 'No field that each record has is an id, and the records have no keys: subscribers receive all records.';
}
