import { sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import type { ListedConnection } from '../../gateway/connections/listed-connection.ts';
import { liveDocuments } from './live-documents.ts';
import { top } from './top.ts';
import { topQuery } from './top-query.ts';

const COLUMNS = ['queued_bytes', 'operations', 'bytes_sent', 'bytes_received', 'age_seconds'] as const;

/** `/debug/connections`: the connections that hold or take most. It has no claims, no headers and no params of a connection. */
export function connectionsRoute(connections: Iterable<ListedConnection>): Route {
  return {
    methods: ['GET'],
    handle: async (_request, response, url) => {
      const query = topQuery(url, COLUMNS);
      if (typeof query === 'string') return sendText(response, 400, `${query}\n`);
      const { by, limit } = query;
      const open = [...connections];
      const rows = (await top(open, (connection) => connection.figures[by], limit)).map((connection) => ({
        connection: connection.id,
        address: connection.address,
        ...(connection.isRouter && { is_router: true }),
        ...connection.figures,
        live: liveDocuments(connection),
      }));
      sendJson(response, 200, { by, open: open.length, connections: rows });
    },
  };
}
