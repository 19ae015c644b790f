import type { Entry } from './ledger.ts';

/** What a result has to select so that `entryOf` can read it. */
export const ENTRY_SELECTION = 'ledger_entry { lane_name sequence_number content_text written_at content_digest }';

/** The types of what is selected. */
export const ENTRY_TYPES = `type Entry {
  lane_name: String!
  sequence_number: Int!
  content_text: String!
  written_at: Float!
  content_digest: String!
}`;

/** `ledgerEntry` of a record, as its producer writes it: camelCase. */
export function recordedEntry({ lane, sequence, content, writtenAt, digest }: Entry): object {
  return { laneName: lane, sequenceNumber: sequence, contentText: content, writtenAt, contentDigest: digest };
}

/** The entry in a result: `{ event: { ledger_entry: … } }`. */
export function entryOf(data: unknown): Entry {
  const { event } = data as { event: { ledger_entry: Record<string, unknown> } };
  const { lane_name, sequence_number, content_text, written_at, content_digest } = event.ledger_entry;
  return {
    lane: lane_name as string,
    sequence: sequence_number as number,
    content: content_text as string,
    writtenAt: written_at as number,
    digest: content_digest as string,
  };
}
