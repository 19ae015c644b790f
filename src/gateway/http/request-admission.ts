import { LRUCache } from 'lru-cache';
import { Quota } from '../../base/limits/quota.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';

/** Of the requests of one client; 0: no limit. */
export interface ClientLimits {
  readonly maxInFlight: number;
  readonly maxPerSecond: number;
}

export interface RequestAdmissionLimits {
  /** Requests in flight on the pod; 0: no limit. */
  readonly maxInFlight: number;
  /** Of these, requests without a user; 0: no limit. Otherwise strangers could keep all users out. */
  readonly maxInFlightWithoutUser: number;
  readonly user: ClientLimits;
  readonly address: ClientLimits;
}

/** Which limit a request has reached, as a metric label. `request_memory` and `requests` are the pod's, the others the client's. */
export type RequestLimit =
  'request_memory' | 'requests' | 'user_requests' | 'user_request_rate' | 'address_requests' | 'address_request_rate';

/** Seconds of its rate that a client may send at once. */
const BURST_SECONDS = 10;
/** Rates that are remembered of users, and as many of addresses. Whoever is forgotten has the whole burst again. */
const MAX_RATES = 10_000;

/** Decides which HTTP requests a gateway serves. Takes constant time for a request, and bounded memory. */
export class RequestAdmission {
  readonly #maxInFlight: number;
  readonly #isMemoryShort: () => boolean;
  readonly #users: Clients;
  readonly #addresses: Clients;
  #inFlight = 0;
  #opened = 0;

  /** @param isMemoryShort while true, no request is admitted */
  constructor(
    { maxInFlight, maxInFlightWithoutUser, user, address }: RequestAdmissionLimits,
    isMemoryShort: () => boolean,
  ) {
    this.#maxInFlight = maxInFlight;
    this.#isMemoryShort = isMemoryShort;
    this.#users = new Clients(user);
    this.#addresses = new Clients(address, maxInFlightWithoutUser);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Count of requests so far. */
  get opened(): number {
    return this.#opened;
  }

  /** The limit of the pod that refuses a request; undefined: it may be opened. */
  get limit(): RequestLimit | undefined {
    if (this.#isMemoryShort()) return 'request_memory';
    return this.#maxInFlight > 0 && this.#inFlight >= this.#maxInFlight ? 'requests' : undefined;
  }

  /** A request is in flight from now on, until its `close`. @param address key of its client's address */
  open(address: string): AdmittedRequest {
    this.#inFlight++;
    this.#opened++;
    return new AdmittedRequest(this.#users, this.#addresses, address, () => this.#inFlight--);
  }
}

/** One request in flight. */
export class AdmittedRequest {
  readonly #users: Clients;
  readonly #addresses: Clients;
  readonly #address: string;
  readonly #onClose: () => void;
  #leave: (() => void) | undefined;
  #limit: RequestLimit | undefined;
  #isCharged = false;
  #isClosed = false;

  constructor(users: Clients, addresses: Clients, address: string, onClose: () => void) {
    this.#users = users;
    this.#addresses = addresses;
    this.#address = address;
    this.#onClose = onClose;
  }

  /** The limit that its client has reached. */
  get limit(): RequestLimit | undefined {
    return this.#limit;
  }

  /** A router has sent it: it is charged to nobody. */
  exempt(): void {
    this.#isCharged = true;
  }

  /**
   * Charges it to its user, or to its address if it has none; once. Returns false if that has reached a limit, or the request is closed.
   * @param user key of the user
   */
  charge(user: string | undefined): boolean {
    if (this.#isClosed) return false;
    if (this.#isCharged) return this.#limit === undefined;
    this.#isCharged = true;
    const clients = user === undefined ? this.#addresses : this.#users;
    const key = user ?? this.#address;
    const reached = clients.reached(key);
    if (reached === undefined) this.#leave = clients.enter(key);
    else if (reached === 'total') this.#limit = 'requests';
    else this.#limit = `${user === undefined ? 'address' : 'user'}_${reached}`;
    return reached === undefined;
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leave?.();
    this.#onClose();
  }
}

/** Requests of users, or of addresses, by key. */
class Clients {
  readonly #maxPerSecond: number;
  readonly #maxTotal: number;
  readonly #inFlight: Quota;
  readonly #rates = new LRUCache<string, RateLimit>({ max: MAX_RATES });

  #total = 0;

  /** @param maxTotal requests in flight of all clients; 0: no limit */
  constructor({ maxInFlight, maxPerSecond }: ClientLimits, maxTotal = 0) {
    this.#maxTotal = maxTotal;
    this.#maxPerSecond = maxPerSecond;
    this.#inFlight = new Quota(maxInFlight);
  }

  /** The limit that a client, or all clients together (`total`), have reached. */
  reached(key: string): 'total' | 'requests' | 'request_rate' | undefined {
    if (this.#maxTotal > 0 && this.#total >= this.#maxTotal) return 'total';
    if (this.#inFlight.isReached(key)) return 'requests';
    return this.#maxPerSecond === 0 || this.#rateOf(key).take(performance.now()) ? undefined : 'request_rate';
  }

  /** Counts a request until the returned function is called. */
  enter(key: string): () => void {
    this.#inFlight.add(key);
    this.#total++;
    return () => {
      this.#inFlight.delete(key);
      this.#total--;
    };
  }

  #rateOf(key: string): RateLimit {
    const known = this.#rates.get(key);
    if (known) return known;
    const rate = new RateLimit(this.#maxPerSecond, this.#maxPerSecond * BURST_SECONDS);
    this.#rates.set(key, rate);
    return rate;
  }
}
