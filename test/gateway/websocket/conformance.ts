import { completeRows } from './conformance/complete.ts';
import { endingRows } from './conformance/ending.ts';
import { eventRows } from './conformance/event.ts';
import { handshakeRows } from './conformance/handshake.ts';
import { initialisationRows } from './conformance/initialisation.ts';
import { limitRows } from './conformance/limits.ts';
import { pingRows } from './conformance/ping.ts';
import type { ProbeRow } from './conformance/probe-stage.ts';
import { sharedRows } from './conformance/protocol.ts';
import { subscribeRows } from './conformance/subscribe.ts';

/**
 * The conformance table of graphql-transport-ws (C-…) and the further promises of crier (X-…). What can be seen from outside is in
 * src/tools/conformance; the rows here look inside the server, too.
 * https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
export const conformance: readonly ProbeRow[] = [
  ...sharedRows,
  ...handshakeRows,
  ...initialisationRows,
  ...pingRows,
  ...subscribeRows,
  ...eventRows,
  ...completeRows,
  ...endingRows,
  ...limitRows,
];
