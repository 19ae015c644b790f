import { isJsonObject } from '../../../base/json/json-object.ts';
import { errorOf } from '../../../base/errors.ts';
import type { ReadChange, RowChange } from '../../../bus/row-change.ts';
import { UndecodableError } from '../decoder.ts';
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

export function envelopeOf({ name, read }: NamedEnvelope): Envelope {
  return read ? ownEnvelope(read) : ENVELOPES[name]!;
}

function ownEnvelope(read: ReadChange): Envelope {
  return {
    read: (value) => {
      let change: RowChange | undefined;
      try {
        change = read(value);
      } catch (error) {
        throw new UndecodableError('not_envelope', { cause: errorOf(error) });
      }
      if (change === undefined || isChange(change)) return change;
      throw new UndecodableError('not_envelope');
    },
  };
}

const OPERATIONS: readonly unknown[] = [undefined, 'CREATE', 'UPDATE', 'DELETE', 'READ'];

/** False for what a function of a graph may return by mistake. */
function isChange(change: unknown): boolean {
  if (!isJsonObject(change)) return false;
  const { row, op, before = null } = change;
  return (row === null || isJsonObject(row)) && (before === null || isJsonObject(before)) && OPERATIONS.includes(op);
}
