import type { DeadLetterEntry } from '../kafka/dead-letter/dead-letter-commands.ts';
import { escapeHidden, onOneLine } from '../base/visible.ts';

/** What `crier dead-letters list` prints of one: position, reason and what was found, age, size, key. All of it may be whatever a producer has written. */
export function deadLetterLine({ facts, record: { key, timestamp } }: DeadLetterEntry, now = Date.now()): string {
  const { topic, partition, offset, reason, found, valueBytes, isPartial } = facts;
  const ageSeconds = Math.max(0, Math.round((now - timestamp) / 1000));
  const size = valueBytes === undefined ? 'unknown size' : `${valueBytes} bytes${isPartial ? ' (omitted)' : ''}`;
  const keyText = JSON.stringify(key?.toString() ?? null);
  const why = found === undefined ? reason : `${reason} (${found})`;
  return onOneLine(`${topic}/${partition}/${offset} ${why} ${ageSeconds} s ago, ${size}, key ${keyText}`);
}

/** The same as JSON, on one line: `time` is that of the dead letter. `valueBytes` is missing where the size is unknown. */
export function deadLetterJson({ facts, record: { key, timestamp } }: DeadLetterEntry): string {
  const { topic, partition, offset, reason, found, valueBytes, isPartial } = facts;
  const time = new Date(timestamp).toISOString();
  const line = { topic, partition, offset, reason, found, time, valueBytes, isPartial, key: key?.toString() ?? null };
  return escapeHidden(JSON.stringify(line));
}
