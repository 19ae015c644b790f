import { isJsonObject } from '../../../base/json/json-object.ts';
import type { ChangeOperation } from '../../../bus/change-text.ts';
import { withoutSchema } from './connect.ts';
import { mayFill, notOfEnvelope, rowOf } from './envelope.ts';
import type { Envelope, EnvelopeChange, JsonObject } from './envelope.ts';

/** By `op`. Truncated tables (`t`) and logical messages (`m`) are of no row: https://debezium.io/documentation/reference/stable/connectors/postgresql.html */
export const OPERATIONS: Readonly<Record<string, ChangeOperation | 'NONE'>> = {
  c: 'CREATE',
  u: 'UPDATE',
  d: 'DELETE',
  r: 'READ',
  t: 'NONE',
  m: 'NONE',
};

/** What a change of Debezium says beside its rows. */
export interface ChangeFacts extends Pick<
  EnvelopeChange,
  'sourceTimestamp' | 'transaction' | 'isSnapshot' | 'isFilled'
> {
  readonly op: ChangeOperation;
}

/** undefined: it is of no row. */
export function factsOf({ op: code, source, transaction }: JsonObject): ChangeFacts | undefined {
  const op = typeof code === 'string' && Object.hasOwn(OPERATIONS, code) ? OPERATIONS[code]! : notOfEnvelope();
  if (op === 'NONE') return undefined;
  const { ts_ms: timestamp, snapshot, connector } = isJsonObject(source) ? source : {};
  const id = isJsonObject(transaction) ? transaction['id'] : undefined;
  return {
    op,
    sourceTimestamp: typeof timestamp === 'number' ? timestamp : undefined,
    transaction: typeof id === 'string' ? id : undefined,
    isSnapshot: op === 'READ' || (typeof snapshot === 'string' && snapshot !== 'false') || snapshot === true,
    isFilled: mayFill(connector),
  };
}

/** The change of a value without a schema. @param row reads `before` and `after` */
export function changeOf(value: unknown, row: (value: unknown) => JsonObject | null): EnvelopeChange | undefined {
  if (!isJsonObject(value)) return notOfEnvelope();
  const facts = factsOf(value);
  if (!facts) return undefined;
  const after = facts.op === 'DELETE' ? null : (row(value['after']) ?? notOfEnvelope());
  return { ...facts, row: after, before: row(value['before']) };
}

/** Debezium's changes of rows, of relational databases. */
export const DEBEZIUM: Envelope = {
  read: (value) => changeOf(withoutSchema(value), rowOf),
  rowMembers: ['before', 'after'],
  hasFastPath: true,
};
