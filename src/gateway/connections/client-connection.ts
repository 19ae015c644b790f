import type { KnownClaims } from '../identity/revocation.ts';
import type { ConnectionOperations } from '../operations/connection-operations.ts';
import type { ConnectionFigures } from './connection-figures.ts';
import type { DrainedConnection } from './drain.ts';
import type { HoldingConnection } from './memory-relief.ts';
import type { ExpiringConnection } from './token-expiries.ts';
import type { UserConnection } from './users.ts';

/** A client with live operations, whatever its transport. */
export interface ClientConnection extends DrainedConnection, ExpiringConnection, HoldingConnection, UserConnection {
  readonly id: string | undefined;
  /** IP address of the client, as far as proxies are trusted. */
  readonly address: string;
  /** undefined: not authenticated yet. */
  readonly knownClaims: KnownClaims | undefined;
  readonly figures: ConnectionFigures;
  readonly operations: ConnectionOperations;
  /** Closes it because its claims are revoked: what waits for it is dropped. Idempotent. */
  revoke(): void;
  /** The graph has another `authenticate`: it gets the claims that this returns, or is closed. Never rejects. */
  authenticateAgain(): Promise<void>;
  /** Called at intervals. Ends a connection that is too old or whose peer is gone, and keeps the others alive. */
  sweep(isPinging: boolean): void;
  /** Closes it without waiting for the peer. */
  terminate(): void;
}
