import type { Hub } from '../fanout/hub.ts';
import type { DocumentQueue } from '../../graph/documents/document-queue.ts';
import type { OperationRunner } from '../../graph/operation-runner.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import type { SubscriptionTally } from './subscription-tally.ts';

/** Shared by all operations of a gateway. */
export interface LiveOperationServices {
  readonly runtime: OperationRunner;
  /** Queue of the documents that are not cached. */
  readonly documents: DocumentQueue;
  readonly hub: Hub;
  readonly subscriptions: SubscriptionTally;
  readonly limits: ConnectionLimits;
  readonly onFailure: FailureListener;
  /** Called for each operation that a limit of its connection or user refuses. @param message for the client */
  readonly onRefusedOperation: (message: string, connection: string | undefined) => void;
}

/** Receives an unexpected failure that ended one operation or one connection. `connection` is the connection's id. Must not throw. */
export type FailureListener = (
  ended: 'operation' | 'connection',
  error: unknown,
  connection: string | undefined,
) => void;
