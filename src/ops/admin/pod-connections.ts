import type { Claims } from '../../graph/context/connection-facts.ts';
import { liveDocuments } from '../debug/live-documents.ts';
import type { LiveDocument } from '../debug/live-documents.ts';
import { isRevoked, parseRevocation } from '../../gateway/identity/revocation.ts';
import type { Revocations } from '../../gateway/identity/revocations.ts';
import type { ListedConnection } from '../../gateway/connections/listed-connection.ts';
import { revokeConnections } from '../../gateway/connections/revoking.ts';
import { isSelected } from './selection.ts';
import type { Selection } from './selection.ts';

/** What pods ask each other: to revoke a claim (the text of a `Revocation`) or a connection (its id), or what is open. */
export type PodQuestion = { readonly revoke: string } | { readonly close: string } | { readonly list: Selection };

export interface PodAnswer {
  /** Connections that were closed. */
  readonly closed?: number;
  /** The longest time for which a token that the pod has seen is accepted, in ms. */
  readonly longestLifeMs?: number;
  /** `jti` and `iss` of the token of the connection that was closed. */
  readonly tokenId?: string;
  readonly issuer?: string;
  /** Connections that are open. */
  readonly open?: number;
  /** Of these, `MAX_ROWS` at most. */
  readonly connections?: readonly ConnectionRow[];
}

/** No token, no claim, no header and no variable. */
export interface ConnectionRow {
  readonly connection: string | undefined;
  readonly address: string | undefined;
  readonly age_seconds: number;
  /** ISO 8601; undefined: it has no token. */
  readonly expires: string | undefined;
  readonly operations: number;
  readonly live: readonly LiveDocument[];
}

/** Rows that one pod returns. */
const MAX_ROWS = 100;

export interface PodConnectionsOptions {
  readonly connections: () => Iterable<ListedConnection>;
  readonly revocations: Revocations;
  readonly onRevoked: (connections: number) => void;
}

/** The connections of this pod, as operators list and revoke them. */
export class PodConnections {
  readonly #options: PodConnectionsOptions;
  /** Settles when no connections are being closed any more; never rejects. */
  #closing: Promise<unknown> = Promise.resolve();
  /** A scan for all revocations waits for its turn: it also finds those that arrive until then. */
  #isScanDue = false;

  constructor(options: PodConnectionsOptions) {
    this.#options = options;
  }

  readonly answer = (question: PodQuestion): Promise<PodAnswer> => {
    if ('revoke' in question) return this.#revoke(question.revoke);
    if ('close' in question) return this.#close(question.close);
    return Promise.resolve(this.#list(question.list));
  };

  /** Closes the connections that any revocation refuses. Any number of calls before a scan begins are one scan. */
  readonly closeRevoked = (): void => {
    if (this.#isScanDue) return;
    this.#isScanDue = true;
    const { revocations } = this.#options;
    const refuses = ({ knownClaims }: ListedConnection) =>
      knownClaims !== undefined && revocations.refuses(knownClaims);
    void this.#closeWhere(refuses, () => (this.#isScanDue = false));
  };

  async #revoke(text: string): Promise<PodAnswer> {
    const { revocations } = this.#options;
    const revocation = parseRevocation(text);
    if (!revocation) return { closed: 0 };
    if (revocations.isFull || !revocations.add(text, revocation)) revocations.refuseInFlight(revocation);
    const closed = await this.#closeWhere(
      ({ knownClaims }) => knownClaims !== undefined && isRevoked(knownClaims, revocation),
    );
    return { closed, longestLifeMs: revocations.longestLifeMs };
  }

  async #close(id: string): Promise<PodAnswer> {
    let token: Claims | undefined;
    const closed = await this.#closeWhere((connection) => {
      if (connection.id !== id) return false;
      token = connection.knownClaims?.token;
      return true;
    });
    const { jti: tokenId, iss: issuer } = token ?? {};
    if (typeof tokenId !== 'string') return { closed };
    return { closed, tokenId, ...(typeof issuer === 'string' && { issuer }) };
  }

  #list(selection: Selection): PodAnswer {
    const selected = [...this.#options.connections()].filter(
      (connection) => !connection.isEnded && isSelected(connection, selection),
    );
    return { open: selected.length, connections: selected.slice(0, MAX_ROWS).map(rowOf) };
  }

  /** Closes for one cause after the other: each connection counts for the cause that came first. */
  #closeWhere(isRevoked: (connection: ListedConnection) => boolean, onBegin?: () => void): Promise<number> {
    const { connections, onRevoked } = this.#options;
    const closing = this.#closing.then(async () => {
      onBegin?.();
      const closed = await revokeConnections(connections(), isRevoked);
      onRevoked(closed);
      return closed;
    });
    this.#closing = closing.catch(() => undefined);
    return closing;
  }
}

function rowOf(connection: ListedConnection): ConnectionRow {
  const { age_seconds, operations } = connection.figures;
  const { tokenExpiresAtMs } = connection;
  return {
    connection: connection.id,
    address: connection.address,
    age_seconds,
    expires: tokenExpiresAtMs > 0 ? new Date(tokenExpiresAtMs).toISOString() : undefined,
    operations,
    live: liveDocuments(connection),
  };
}
