import type { RateLimit } from '../../base/limits/rate-limit.ts';
import type { ConnectionSocket } from './connection-socket.ts';

interface EarlyMessage {
  /** undefined: a control frame, of which nothing is left to handle. */
  readonly data: Buffer | undefined;
  /** Messages that it counts as. */
  readonly cost: number;
  /** True: it begins or completes an operation. */
  readonly isOfOperation: boolean;
}

/**
 * More of them that wait are an attack: other clients send few messages that are no operation's. Of these there are no more than the 64 KB have
 * that the socket had read, because it is not read meanwhile.
 */
const MAX_OTHERS = 1000;
const MAX_CONTROL_FRAMES = 100;
/** Text that waits, in bytes. Only compressed messages can have so much in 64 KB. */
const MIN_TEXT_BYTES = 262_144;

/**
 * Messages that a connection had received before their rate allowed it. Each is due, in order of arrival, when the rate has room for it.
 */
export class EarlyMessages {
  readonly #rate: RateLimit;
  readonly #socket: Pick<ConnectionSocket, 'maxReceivedBytes'>;
  readonly #onDue: (data: Buffer | undefined) => void;
  readonly #waiting: EarlyMessage[] = [];
  #controlFrames = 0;
  #others = 0;
  #textBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param socket a message of which has room, if it may have more than 256 KB */
  constructor(
    rate: RateLimit,
    socket: Pick<ConnectionSocket, 'maxReceivedBytes'>,
    onDue: (data: Buffer | undefined) => void,
  ) {
    this.#rate = rate;
    this.#socket = socket;
    this.#onDue = onDue;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  /** Adds a message for which the rate has no room, as a copy. Returns false if there is no room here either. */
  add(received: Buffer | undefined, cost: number, isOfOperation: boolean): boolean {
    if (!this.#hasRoom(received, isOfOperation)) return false;
    // A short message may be a slice of 16 KB that were inflated.
    const data = received && Buffer.from(received);
    const message = { data, cost, isOfOperation };
    this.#waiting.push(message);
    this.#count(message, 1);
    if (this.#waiting.length === 1) this.#awaitRoom();
    return true;
  }

  #hasRoom(data: Buffer | undefined, isOfOperation: boolean): boolean {
    if (!data) return this.#controlFrames < MAX_CONTROL_FRAMES;
    const maxTextBytes = Math.max(MIN_TEXT_BYTES, this.#socket.maxReceivedBytes);
    return (isOfOperation || this.#others < MAX_OTHERS) && this.#textBytes + data.length <= maxTextBytes;
  }

  #count({ data, isOfOperation }: EarlyMessage, count: 1 | -1): void {
    if (!data) this.#controlFrames += count;
    else {
      this.#textBytes += count * data.length;
      if (!isOfOperation) this.#others += count;
    }
  }

  /** Forgets those that wait. Idempotent. */
  end(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
    this.#textBytes = 0;
  }

  #awaitRoom(): void {
    this.#timer = setTimeout(this.#onRoom, this.#rate.msUntil(this.#waiting[0]!.cost));
  }

  readonly #onRoom = (): void => {
    for (
      let first = this.#waiting[0];
      first && this.#rate.take(performance.now(), first.cost);
      first = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#count(first, -1);
      this.#onDue(first.data);
    }
    if (!this.isEmpty) this.#awaitRoom();
  };
}
