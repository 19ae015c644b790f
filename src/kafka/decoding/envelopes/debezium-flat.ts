import { isJsonObject } from '../../../base/json/json-object.ts';
import type { ChangeOperation } from '../../../bus/change-text.ts';
import { withoutSchema } from './connect.ts';
import { OPERATIONS } from './debezium.ts';
import { mayFill, notOfEnvelope } from './envelope.ts';
import type { Envelope, JsonObject } from './envelope.ts';

/** Rows that Debezium's ExtractNewRecordState has flattened, with what its `add.fields` adds: https://debezium.io/documentation/reference/stable/transformations/event-flattening.html */
export const DEBEZIUM_FLAT: Envelope = {
  read: (value) => {
    const row = withoutSchema(value);
    if (row === null) return { row: null, op: 'DELETE' };
    if (!isJsonObject(row)) return notOfEnvelope();
    const timestamp = row['__source_ts_ms'] ?? row['__ts_ms'];
    const op = operationOf(row['__op']);
    const isDeleted = row['__deleted'] === 'true' || row['__deleted'] === true || op === 'DELETE';
    const facts = {
      sourceTimestamp: typeof timestamp === 'number' ? timestamp : undefined,
      transaction: textOf(row['__transaction_id'] ?? row['__source_txId'] ?? row['__txId']),
      isSnapshot: op === 'READ',
    };
    if (!isDeleted) return { ...facts, row, op };
    const isFilled = mayFill(row['__connector'] ?? row['__source_connector']);
    return { ...facts, row: null, before: columnsOf(row), op: 'DELETE', isFilled };
  },
};

/** Without what `add.fields` adds, which would make a row of which only the key is known look whole. */
function columnsOf(row: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('__')));
}

function operationOf(code: unknown): ChangeOperation | undefined {
  const op = typeof code === 'string' && Object.hasOwn(OPERATIONS, code) ? OPERATIONS[code] : undefined;
  return op === 'NONE' ? undefined : op;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
