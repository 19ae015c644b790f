import { completeRows } from './conformance/complete.ts';
import { endingRows } from './conformance/ending.ts';
import { eventRows } from './conformance/event.ts';
import { handshakeRows } from './conformance/handshake.ts';
import { initialisationRows } from './conformance/initialisation.ts';
import { limitRows } from './conformance/limits.ts';
import { pingRows } from './conformance/ping.ts';
import type { Row } from './conformance/row.ts';
import { subscribeRows } from './conformance/subscribe.ts';

/**
 * The conformance table of graphql-transport-ws (C-…) and the further promises of crier (X-…).
 * https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
export const conformance: readonly Row[] = [
  ...handshakeRows,
  ...initialisationRows,
  ...pingRows,
  ...subscribeRows,
  ...eventRows,
  ...completeRows,
  ...endingRows,
  ...limitRows,
];
