import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListedConnection } from './listed-connection.ts';

/** Connections closed in one turn of the event loop; each takes some 0.05 ms. */
const CLOSES_IN_A_TURN = 100;
/** Connections looked at in one turn. */
const LOOKS_IN_A_TURN = 2_000;

/** Closes the connections that are revoked, the first of them in this turn. Resolves with their count. */
export async function revokeConnections(
  connections: Iterable<ListedConnection>,
  isRevoked: (connection: ListedConnection) => boolean,
): Promise<number> {
  let closed = 0;
  let looks = 0;
  // Those that are opened meanwhile are compared with the revocations when they are authenticated.
  for (const connection of [...connections]) {
    if (++looks % LOOKS_IN_A_TURN === 0) await nextTurn();
    if (connection.isEnded || !isRevoked(connection)) continue;
    connection.revoke();
    if (++closed % CLOSES_IN_A_TURN === 0) await nextTurn();
  }
  return closed;
}
