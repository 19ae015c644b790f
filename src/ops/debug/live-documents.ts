import type { OperationTally } from '../../graph/documents/operation-tally.ts';
import type { ListedConnection } from '../../gateway/connections/listed-connection.ts';
import { nameOf } from './operation-name.ts';
import type { OperationName } from './operation-name.ts';

/** Documents that a connection's row has. */
const MAX_DOCUMENTS = 5;

export interface LiveDocument extends OperationName {
  readonly operations: number;
}

/** The documents that most of a connection's live operations have. */
export function liveDocuments(connection: ListedConnection): LiveDocument[] {
  const counts = new Map<OperationTally, number>();
  for (const { operation } of connection.operations)
    if (operation) counts.set(operation.tally, (counts.get(operation.tally) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_DOCUMENTS);
  return most.map(([tally, operations]) => ({ ...nameOf(tally), operations }));
}
