import type { Sample } from './seen-record.ts';
import { escapeHidden } from '../../base/visible.ts';

const MAX_RECORDS = 20;
const MAX_RECORD_LENGTH = 16_384;
const MAX_TEXT_LENGTH = 200;
const MAX_ITEMS = 5;

/** The samples.ts of a graph, with shortened values. */
export function samplesText(topic: string, records: readonly Sample[], source: string): string {
  const samples = records.map(({ key, value }) => ({
    ...(key === undefined ? {} : { key: shortened(key) }),
    value: shortened(value),
  }));
  const short = samples.filter((sample) => JSON.stringify(sample).length <= MAX_RECORD_LENGTH);
  const kept = short.length > 0 ? short.slice(-MAX_RECORDS) : samples.slice(-1);
  const made = records.some(({ isMade }) => isMade) ? '// The changes at the end are made of the last row.\n' : '';
  return `// Written by "crier init" from ${source}. Long texts and lists are shortened.
${made}// Look at the values before you share this file. Without Kafka, crier plays these records again and again.
const RECORDS = ${escapeHidden(JSON.stringify(kept, null, 2))};

export function* records() {
  for (;;) for (const record of RECORDS) yield { topic: ${JSON.stringify(topic)}, ...record };
}
`;
}

/** Without a key __proto__, which crier drops, and which sets a prototype where a literal has it. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH)}…` : value;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, of]) => [key, shortened(of)]));
}
