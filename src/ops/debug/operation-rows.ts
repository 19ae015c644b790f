import type { OperationTallies } from '../../graph/documents/operation-tallies.ts';
import { nameOf } from './operation-name.ts';
import type { OperationName } from './operation-name.ts';

export const COLUMNS = [
  'execution_seconds',
  'executions',
  'backend_requests',
  'errors',
  'deliveries',
  'subscriptions',
] as const;

export type Column = (typeof COLUMNS)[number];

export interface OperationRow extends OperationName, Record<Column, number> {
  /** The root field; '' for several. */
  readonly field: string;
}

/** One row for each document and operation name: a document that left the cache and came back has a second tally. By their key. */
export function operationRows(tallies: OperationTallies): ReadonlyMap<string, OperationRow> {
  const rows = new Map<string, OperationRow>();
  for (const [tally, field] of tallies.entries) {
    const key = `${tally.document} ${tally.name}`;
    let row = rows.get(key);
    if (!row) rows.set(key, (row = emptyRow(nameOf(tally), field)));
    row.execution_seconds += tally.executionMs / 1000;
    row.executions += tally.executions;
    row.backend_requests += tally.backendRequests;
    row.errors += tally.errors;
    row.deliveries += tally.deliveries;
    row.subscriptions += tally.subscriptions;
  }
  return rows;
}

function emptyRow(name: OperationName, field: string): OperationRow {
  return {
    ...name,
    field,
    execution_seconds: 0,
    executions: 0,
    backend_requests: 0,
    errors: 0,
    deliveries: 0,
    subscriptions: 0,
  };
}
