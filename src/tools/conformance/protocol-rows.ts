import type { ProtocolRow } from './row.ts';
import { completeRows } from './rows/complete.ts';
import { handshakeRows } from './rows/handshake-rows.ts';
import { initialisationRows } from './rows/initialisation.ts';
import { messageRows } from './rows/messages.ts';
import { pingRows } from './rows/ping.ts';
import { subscribeRows } from './rows/subscribe.ts';

/**
 * Promises of graphql-transport-ws that any server can be asked for, from outside.
 * https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
export const protocolRows: readonly ProtocolRow[] = [
  ...handshakeRows,
  ...initialisationRows,
  ...pingRows,
  ...subscribeRows,
  ...completeRows,
  ...messageRows,
];
