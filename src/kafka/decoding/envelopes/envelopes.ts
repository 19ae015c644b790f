import { errorOf } from '../../../base/errors.ts';
import type { ReadChange, RowChange } from '../../../bus/row-change.ts';
import { UndecodableError } from '../decoder.ts';
import { ChangeMistake, checkChange } from './change-check.ts';
import { CONNECT } from './connect.ts';
import { DEBEZIUM_FLAT } from './debezium-flat.ts';
import { DEBEZIUM } from './debezium.ts';
import type { Envelope } from './envelope.ts';
import { MONGODB } from './mongodb.ts';
import { OUTBOX } from './outbox.ts';

const ENVELOPES: Readonly<Record<string, Envelope>> = { CONNECT, DEBEZIUM, DEBEZIUM_FLAT, MONGODB, OUTBOX };

/** An envelope by its name in the schema. */
export interface NamedEnvelope {
  readonly name: string;
  /** undefined: it is crier's. Else the graph brings it. */
  readonly read: ReadChange | undefined;
}

/** @param onMistake called with what is wrong where an envelope of the graph throws, or returns no change */
export function envelopeOf({ name, read }: NamedEnvelope, onMistake?: (mistake: string) => void): Envelope {
  return read ? { read: (value) => ownChange(name, read, value, onMistake) } : ENVELOPES[name]!;
}

/** @throws UndecodableError */
function ownChange(
  name: string,
  read: ReadChange,
  value: unknown,
  onMistake: ((mistake: string) => void) | undefined,
): RowChange | undefined {
  try {
    const change = read(value);
    if (change !== undefined) checkChange(change);
    return change;
  } catch (error) {
    const cause = errorOf(error);
    // The message of another error may quote the record.
    onMistake?.(`${name} ${cause instanceof ChangeMistake ? cause.message : `throws ${cause.name}`}`);
    throw new UndecodableError('not_envelope', { cause });
  }
}
