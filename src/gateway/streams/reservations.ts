import { randomUUID } from 'node:crypto';
import { InitDeadlines } from '../connections/init-deadlines.ts';
import type { DeadlineOwner } from '../connections/init-deadlines.ts';
import type { Authenticated } from '../identity/authenticator.ts';
import { Quota } from '../../base/limits/quota.ts';
import type { HttpStream } from './http-stream.ts';

/** Streams of all clients, and of one address, that may be reserved and not open: as many as a storm of clients reserves at once. */
const MAX_WAITING = 10_000;
const MAX_WAITING_OF_ADDRESS = 1_000;

/** A stream of many operations, from its reservation to its end. */
export interface Reservation {
  readonly identity: Authenticated;
  /** When the authentication began, of performance.now(). */
  readonly begunAt: number;
  /** undefined: the client has not opened it yet. */
  readonly stream: HttpStream | undefined;
}

interface OwnReservation extends Reservation, DeadlineOwner {
  stream: HttpStream | undefined;
}

/** The reserved streams by their tokens, which are secrets: a token stands for the identity of its client. */
export class Reservations {
  readonly #reserved = new Map<string, OwnReservation>();
  readonly #deadlines: InitDeadlines<OwnReservation>;
  readonly #waitingOf = new Quota(MAX_WAITING_OF_ADDRESS);
  readonly #release = new Map<OwnReservation, () => void>();

  /** @param openTimeoutMs after which a reservation that is not open ends */
  constructor(openTimeoutMs: number) {
    this.#deadlines = new InitDeadlines(openTimeoutMs);
  }

  get(token: string): Reservation | undefined {
    return this.#reserved.get(token);
  }

  /** Returns the token; undefined: too many wait to be opened. @param address key of the client's address */
  add(identity: Authenticated, begunAt: number, address: string): string | undefined {
    if (this.#release.size >= MAX_WAITING || this.#waitingOf.isReached(address)) return undefined;
    const token = randomUUID();
    const reservation: OwnReservation = {
      identity,
      begunAt,
      stream: undefined,
      onDeadline: () => this.delete(token),
    };
    this.#reserved.set(token, reservation);
    this.#waitingOf.add(address);
    this.#release.set(reservation, () => this.#waitingOf.delete(address));
    this.#deadlines.add(reservation);
    return token;
  }

  /** The client has opened it. */
  open(token: string, stream: HttpStream): void {
    const reservation = this.#reserved.get(token)!;
    reservation.stream = stream;
    this.#endWait(reservation);
  }

  /** Ends those that their clients have not opened. */
  endWaiting(): void {
    for (const [token, { stream }] of this.#reserved) if (!stream) this.delete(token);
  }

  /** Its stream has ended, or was not opened in time. */
  delete(token: string): void {
    const reservation = this.#reserved.get(token);
    if (!reservation) return;
    this.#reserved.delete(token);
    this.#endWait(reservation);
  }

  /** Those that are open stay until their streams end: the drain closes these one after the other. */
  close(): Promise<void> {
    this.endWaiting();
    this.#deadlines.close();
    return Promise.resolve();
  }

  #endWait(reservation: OwnReservation): void {
    this.#deadlines.delete(reservation);
    this.#release.get(reservation)?.();
    this.#release.delete(reservation);
  }
}
