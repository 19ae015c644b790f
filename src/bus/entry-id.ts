/**
 * Names an entry of a channel's history. Opaque outside of `bus`: at most 64 characters of base64url, of which later ids of a channel have
 * the greater number, or two with a hyphen between them.
 */
export type EntryId = string;

/** Negative if the first id was given earlier than the second one, positive if later. '' comes before all ids. */
export function compareEntryIds(id: EntryId, other: EntryId): number {
  return (Number.parseInt(id, 10) || 0) - (Number.parseInt(other, 10) || 0) || countOf(id) - countOf(other);
}

function countOf(id: EntryId): number {
  return Number.parseInt(id.slice(id.indexOf('-') + 1), 10) || 0;
}
