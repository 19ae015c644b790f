import type { Binding } from '../schema/binding.ts';
import type { ShownEnvelope } from './described.ts';
import type { CheckedRecord } from './key-check.ts';

/** What is wrong with the envelope of a field, or that it has none. undefined: no record shows another one. */
export function envelopeProblem({ envelope, payload }: Binding, records: readonly CheckedRecord[]): string | undefined {
  const showing = records.filter((record) => record.shown);
  const shown = showing.at(-1)?.shown;
  if (!shown) return undefined;
  if (envelope !== undefined) return `envelope: ${envelope}, but the ${envelopeFix(shown)}`;
  if (showing.length < records.length) {
    return (
      `${showing.length} of ${records.length} records are ${shown.likeness}, which the field reads as they are; with envelope: ${shown.name} ` +
      'the others would be poison, so keep one kind of records in the topic'
    );
  }
  // A path into the record leads to the row, too; types that it cannot read are named one by one.
  if (shown.name === 'CONNECT' && payload[0] === 'payload') return undefined;
  const parts = payload.length > 0 ? `, without payload: "${payload.join('.')}"` : '';
  return (
    `the ${envelopeFix(shown)} with tombstone: ${shown.name === 'OUTBOX' ? 'SKIP' : 'NULL'}${parts}, and paths of the row: else fields ` +
    'read what is around the row, and a row that is deleted reaches nobody'
  );
}

/** Says what the records are, and how to read them. */
export function envelopeFix({ name, likeness }: ShownEnvelope): string {
  return `records are ${likeness}; write envelope: ${name} in @kafka`;
}
