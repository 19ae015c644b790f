import type { Operation } from '../../graph/documents/operation.ts';
import type { KnownClaims } from '../identity/revocation.ts';

/** For an operator. */
export interface ConnectionFigures {
  /** Bytes of messages that the kernel has not accepted. */
  readonly queued_bytes: number;
  /** Live now. */
  readonly operations: number;
  /** All bytes of the socket. */
  readonly bytes_sent: number;
  readonly bytes_received: number;
  readonly age_seconds: number;
}

/** A connection, as operators see and close it. */
export interface ListedConnection {
  readonly id: string | undefined;
  /** IP address of the client, as far as proxies are trusted. */
  readonly address: string;
  /** True: it has the limits of a router. */
  readonly isRouter: boolean;
  /** undefined: not authenticated yet. */
  readonly knownClaims: KnownClaims | undefined;
  /** In ms since 1970; 0: it has no token. */
  readonly tokenExpiresAtMs: number;
  /** True once it is closing: no operation is live any more. */
  readonly isEnded: boolean;
  readonly figures: ConnectionFigures;
  /** Live now. `operation` is undefined until its document is prepared. */
  readonly operations: Iterable<{ readonly operation: Operation | undefined }>;
  /** Closes it because its claims are revoked. Idempotent. */
  revoke(): void;
}
