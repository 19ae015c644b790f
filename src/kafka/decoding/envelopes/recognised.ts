import { isJsonObject } from '../../../base/json/json-object.ts';
import { withoutSchema } from './connect.ts';
import { OPERATIONS } from './debezium.ts';
import type { JsonObject } from './envelope.ts';

/** The envelopes of crier that a value shows by itself. */
export type RecognisedEnvelope = 'CONNECT' | 'DEBEZIUM' | 'DEBEZIUM_FLAT' | 'MONGODB' | 'OUTBOX';

/** What a message says of records with an envelope. */
export const LIKENESSES: Readonly<Record<RecognisedEnvelope, string>> = {
  CONNECT: 'rows of Kafka Connect with their schema beside them (schema, payload)',
  DEBEZIUM: 'changes of rows, as Debezium and Flink write them (before, after, op)',
  DEBEZIUM_FLAT: "rows that Debezium's ExtractNewRecordState has flattened (__op, __deleted)",
  MONGODB: 'changes of documents by Debezium for MongoDB (before and after are JSON texts)',
  OUTBOX: "events of Debezium's outbox router (a JSON text, or an object with a header id)",
};

/**
 * The envelope of a record's value. undefined: it shows none.
 * @param value with the producer's keys, or with those of payloads
 */
export function recognisedEnvelope(value: unknown): RecognisedEnvelope | undefined {
  const inner = withoutSchema(value);
  if (typeof inner === 'string') return /^\s*\{/.test(inner) ? 'OUTBOX' : undefined;
  if (!isJsonObject(inner)) return undefined;
  if (isChange(inner)) return isOfDocument(inner) ? 'MONGODB' : 'DEBEZIUM';
  if (isFlinkChange(inner)) return 'DEBEZIUM';
  if (Object.hasOwn(inner, '__op') || Object.hasOwn(inner, '__deleted')) return 'DEBEZIUM_FLAT';
  return inner === value ? undefined : 'CONNECT';
}

/** https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events */
function isChange(value: JsonObject): boolean {
  const { op, source } = value;
  const isOperation = typeof op === 'string' && Object.hasOwn(OPERATIONS, op);
  return isOperation && isJsonObject(source) && (OPERATIONS[op] === 'NONE' || 'after' in value || 'before' in value);
}

/**
 * True for a change of Flink's format debezium-json: inserts and deletes, of whole rows, without a source.
 * https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/formats/debezium/
 */
export function isFlinkChange({ before = null, after = null, op, ...others }: JsonObject): boolean {
  if (Object.keys(others).length > 0) return false;
  return op === 'c' ? before === null && isJsonObject(after) : op === 'd' && after === null && isJsonObject(before);
}

function isOfDocument({ before, after, source }: JsonObject): boolean {
  if (typeof before === 'string' || typeof after === 'string') return true;
  return isJsonObject(source) && source['connector'] === 'mongodb';
}

/** Of these envelopes a row may have the schema of Kafka Connect beside it, and nothing else that shows the envelope. */
const MAY_LOOK_PLAIN: readonly string[] = ['DEBEZIUM_FLAT', 'OUTBOX'];

/** The envelope that a value shows, if it is not the topic's. @param envelope of crier; undefined: the topic has none */
export function otherEnvelope(
  recognised: RecognisedEnvelope | undefined,
  envelope: string | undefined,
): RecognisedEnvelope | undefined {
  if (recognised === envelope) return undefined;
  const looksPlain = recognised === 'CONNECT' && envelope !== undefined && MAY_LOOK_PLAIN.includes(envelope);
  return looksPlain ? undefined : recognised;
}
