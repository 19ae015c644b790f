import { CLOSE_CODES } from './close-codes.ts';

/** A connection, as the limits of its user see it. */
export interface UserConnection {
  /** Since its last operation ended, or since it opened; 0 while it has an operation. */
  readonly idleSeconds: number;
  readonly operations: { readonly size: number };
  close(code: number, reason: string): void;
}

/** For each user on this pod. 0: no limit. Read at each use: one changes while the server runs. */
export interface UserLimits {
  readonly maxConnections: number;
  readonly maxOperations: number;
}

/** From then on a connection makes room for another. Until then it may be about to start its next operation. */
const MIN_IDLE_SECONDS = 10;

/** The connections of each user, the oldest first. A user is the `iss` and `sub` of a token. */
export class Users {
  readonly #limits: UserLimits;
  /** Most users have one connection: then there is no set. */
  readonly #connections = new Map<string, UserConnection | Set<UserConnection>>();

  constructor(limits: UserLimits) {
    this.#limits = limits;
  }

  /** False if the user has as many connections as it may and uses all of them. */
  hasRoom(user: string): boolean {
    return !this.#isFull(user) || this.#idleOf(user) !== undefined;
  }

  /** Returns false if the user has no room. Else the oldest idle connection makes room if that is needed. */
  add(user: string, connection: UserConnection): boolean {
    if (!this.hasRoom(user)) return false;
    if (this.#isFull(user)) {
      const reason = 'Idle, and its user has opened as many connections as a user may have';
      this.#idleOf(user)?.close(CLOSE_CODES.tryAgainLater, reason);
    }
    const known = this.#connections.get(user);
    if (known === undefined) this.#connections.set(user, connection);
    else if (known instanceof Set) known.add(connection);
    else this.#connections.set(user, new Set([known, connection]));
    return true;
  }

  /** Idempotent. */
  delete(user: string, connection: UserConnection): void {
    const known = this.#connections.get(user);
    if (known instanceof Set) known.delete(connection);
    if (known === connection || (known instanceof Set && known.size === 0)) this.#connections.delete(user);
  }

  /** Why the user may not start another operation now, for its client; undefined: it may. */
  operationRefusal(user: string): string | undefined {
    const { maxOperations } = this.#limits;
    if (maxOperations === 0) return undefined;
    let operations = 0;
    for (const connection of this.#of(user)) operations += connection.operations.size;
    if (operations < maxOperations) return undefined;
    return `A user may have ${maxOperations} operations at once on all connections (10 times MAX_OPERATIONS_PER_CONNECTION); complete one first`;
  }

  #isFull(user: string): boolean {
    const { maxConnections } = this.#limits;
    const known = this.#connections.get(user);
    const count = known instanceof Set ? known.size : Number(known !== undefined);
    return maxConnections > 0 && count >= maxConnections;
  }

  /** The oldest connection of the user that is idle. */
  #idleOf(user: string): UserConnection | undefined {
    for (const connection of this.#of(user)) if (connection.idleSeconds >= MIN_IDLE_SECONDS) return connection;
    return undefined;
  }

  #of(user: string): Iterable<UserConnection> {
    const known = this.#connections.get(user);
    if (known === undefined) return [];
    return known instanceof Set ? known : [known];
  }
}
