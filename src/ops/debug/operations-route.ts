import type { OperationTallies } from '../../graph/documents/operation-tallies.ts';
import { sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { COLUMNS, operationRows } from './operation-rows.ts';
import { top } from './top.ts';
import { topQuery } from './top-query.ts';

/** `/debug/operations`: the operations that cost most since the pod knows them. It has no variables, and no text of a document. */
export function operationsRoute(tallies: OperationTallies): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response, url) => {
      const query = topQuery(url, COLUMNS);
      if (typeof query === 'string') return sendText(response, 400, `${query}\n`);
      const rows = [...operationRows(tallies).values()];
      const operations = await top(rows, (row) => row[query.by], query.limit);
      sendJson(response, 200, { by: query.by, known: rows.length, operations });
    },
  };
}
