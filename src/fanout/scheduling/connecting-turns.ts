/** Longest time in ms that connecting clients have between two slices of events. */
const CONNECTING_MS = 10;
/** Most turns of the event loop between two slices, thus at most as many new connections. */
const MAX_TURNS = 20;

/**
 * Leaves turns of the event loop to clients that connect. Node.js accepts one connection in a turn (libuv 1.45 and later), so a pod whose
 * turns are full of events would accept one for each slice of them: about 100 a second.
 */
export class ConnectingTurns {
  readonly #takeArrivals: () => boolean;
  #turns = 0;
  #endsAt = 0;

  /** @param takeArrivals true if a client has connected since the last call */
  constructor(takeArrivals: () => boolean) {
    this.#takeArrivals = takeArrivals;
  }

  /** Called before each slice of events. Returns true if the slice must wait for the next turn: a client has connected in this one. */
  readonly take = (): boolean => {
    const hasArrivals = this.#takeArrivals();
    if (this.#turns === 0 && hasArrivals) this.#endsAt = performance.now() + CONNECTING_MS;
    const isTaken = hasArrivals && this.#turns < MAX_TURNS && performance.now() < this.#endsAt;
    this.#turns = isTaken ? this.#turns + 1 : 0;
    return isTaken;
  };
}
