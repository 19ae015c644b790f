import type { OperationTallies } from '../graph/documents/operation-tallies.ts';
import { sendJson, sendText } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { nameOf } from './operation-name.ts';
import type { OperationName } from './operation-name.ts';
import { top } from './top.ts';
import { topQuery } from './top-query.ts';

const COLUMNS = [
  'execution_seconds',
  'executions',
  'backend_requests',
  'errors',
  'deliveries',
  'subscriptions',
] as const;

type Column = (typeof COLUMNS)[number];

interface OperationRow extends OperationName, Record<Column, number> {
  /** The root field; '' for several. */
  readonly field: string;
}

/** `/debug/operations`: the operations that cost most since the pod knows them. It has no variables, and no text of a document. */
export function operationsRoute(tallies: OperationTallies): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response, url) => {
      const query = topQuery(url, COLUMNS);
      if (typeof query === 'string') return sendText(response, 400, `${query}\n`);
      const rows = rowsOf(tallies);
      const operations = await top(rows, (row) => row[query.by], query.limit);
      sendJson(response, 200, { by: query.by, known: rows.length, operations });
    },
  };
}

/** One row for each document and operation name: a document that left the cache and came back has a second tally. */
function rowsOf(tallies: OperationTallies): OperationRow[] {
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
  return [...rows.values()];
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
