import { SLICE_MS } from './bounds.ts';

/** Longest time in ms that clients and a round should take together. A pause of deliveries to one socket is about as long. */
const ROUND_MS = 130;
/** Longest time in ms that connecting clients have between two rounds. */
const MAX_WINDOW_MS = 75;
/** Shortest such time: a pod whose events take all of its core lets clients in, too. */
const MIN_WINDOW_MS = 10;
/** Longest slice of events in ms, in a round after clients have connected. */
const MAX_SLICE_MS = 20;
/** Time in ms that one turn spends on handshakes. */
const HANDSHAKES_MS = 5;
/** Most turns of the event loop between two rounds, thus at most as many new sockets, whose requests come together in one later turn. */
const MAX_TURNS = 64;

/** Clients that connect. */
export interface ConnectingClients {
  /** Handshakes wait. */
  readonly areWaiting: boolean;
  /** @param onWaiting called when handshakes begin to wait */
  start(onWaiting: () => void): void;
  /** True if clients have connected since the last call, or wait. */
  takeArrivals(): boolean;
  /** Runs handshakes, one at least, until `ms` are over. */
  run(ms: number): void;
}

/**
 * Leaves turns of the event loop to clients that connect. Node.js accepts one connection in a turn (libuv 1.45 and later), so a pod whose
 * turns are full of events would accept one for each slice of them: about 100 a second.
 *
 * Events are served in rounds: a round serves all jobs that waited when it began, in as many slices as it takes. Clients connect between two
 * rounds, in one piece, while events wait and gather: larger batches cost less for each result. The longer rounds take, the less time
 * clients have between them. A round of many executions may take seconds, so one handshake runs before each slice, too: as many as
 * connections are accepted.
 */
export class ConnectingTurns {
  readonly #clients: ConnectingClients;
  #windowMs = MIN_WINDOW_MS;
  #turns = 0;
  /** Clients have connected before this round. */
  #isCrowded = false;
  #roundStartedAt = 0;
  #roundEndedAt = 0;

  constructor(clients: ConnectingClients) {
    this.#clients = clients;
  }

  get areWanted(): boolean {
    return this.#clients.areWaiting;
  }

  get maxSliceMs(): number {
    return this.#isCrowded ? MAX_SLICE_MS : 0;
  }

  /**
   * Called before each slice of events. Returns true if the turn was for clients that connect: the slice must wait for the next one.
   * @param firstSince when the first job was added; undefined: no job waits
   */
  take(now: number, firstSince: number | undefined): boolean {
    if (firstSince === undefined) {
      this.#clients.run(SLICE_MS);
      return false;
    }
    if (firstSince < this.#roundStartedAt) {
      this.#clients.run(0);
      return false;
    }
    // One turn at least: reading the sockets may have taken longer than the window.
    const isOpen = this.#turns === 0 || (now < this.#roundEndedAt + this.#windowMs && this.#turns < MAX_TURNS);
    if (this.#clients.takeArrivals() && isOpen) {
      this.#turns++;
      this.#clients.run(HANDSHAKES_MS);
      return true;
    }
    this.#isCrowded = this.#turns > 0;
    this.#turns = 0;
    this.#roundStartedAt = now;
    return false;
  }

  /**
   * Called after each slice that has run jobs.
   * @param firstSince when the job was added that is the first now; undefined: none is left
   */
  endSlice(now: number, firstSince: number | undefined): void {
    if (firstSince !== undefined && firstSince < this.#roundStartedAt) return;
    const restMs = ROUND_MS - (now - this.#roundStartedAt);
    // Half of the way: rounds after a long window are long, so the window would swing between its bounds.
    this.#windowMs = (this.#windowMs + Math.min(MAX_WINDOW_MS, Math.max(MIN_WINDOW_MS, restMs))) / 2;
    this.#roundEndedAt = now;
  }
}
