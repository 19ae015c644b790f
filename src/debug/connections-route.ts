import type { OperationTally } from '../graph/documents/operation-tally.ts';
import { sendJson, sendText } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { Connection } from '../websocket/connection.ts';
import { nameOf } from './operation-name.ts';
import { top } from './top.ts';
import { topQuery } from './top-query.ts';

const COLUMNS = ['queued_bytes', 'operations', 'bytes_sent', 'bytes_received', 'age_seconds'] as const;

/** Documents that a connection's row has. */
const MAX_DOCUMENTS = 5;

/** `/debug/connections`: the connections that hold or take most. It has no claims, no headers and no params of a connection. */
export function connectionsRoute(connections: () => Iterable<Connection>): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response, url) => {
      const query = topQuery(url, COLUMNS);
      if (typeof query === 'string') return sendText(response, 400, `${query}\n`);
      const { by, limit } = query;
      const open = [...connections()];
      const rows = (await top(open, (connection) => connection.figures[by], limit)).map((connection) => ({
        connection: connection.id,
        address: connection.address,
        ...connection.figures,
        live: documentsOf(connection),
      }));
      sendJson(response, 200, { by, open: open.length, connections: rows });
    },
  };
}

/** The documents that most of its live operations have. */
function documentsOf(connection: Connection) {
  const counts = new Map<OperationTally, number>();
  for (const { operation } of connection.operations)
    if (operation) counts.set(operation.tally, (counts.get(operation.tally) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_DOCUMENTS);
  return most.map(([tally, operations]) => ({ ...nameOf(tally), operations }));
}
