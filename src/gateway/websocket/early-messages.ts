import type { RateLimit } from '../../base/limits/rate-limit.ts';

interface EarlyMessage {
  /** undefined: a control frame, of which nothing is left to handle. */
  readonly data: Buffer | undefined;
  /** Messages that it counts as. */
  readonly cost: number;
}

/** More of them that wait are an attack: the socket is not read meanwhile, and what it had read, 64 KB, has fewer messages of other clients. */
const MAX_MESSAGES = 1000;
const MAX_CONTROL_FRAMES = 100;
/** Text that waits, in bytes and in messages of the largest size. Only compressed messages can have so much in 64 KB. */
const MAX_TEXT_BYTES = 262_144;
const MAX_LARGEST_MESSAGES = 4;

/**
 * Messages that a connection had received before their rate allowed it. Each is due, in order of arrival, when the rate has room for it.
 */
export class EarlyMessages {
  readonly #rate: RateLimit;
  readonly #maxTextBytes: number;
  readonly #onDue: (data: Buffer | undefined) => void;
  readonly #waiting: EarlyMessage[] = [];
  #controlFrames = 0;
  #textBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(rate: RateLimit, maxMessageBytes: number, onDue: (data: Buffer | undefined) => void) {
    this.#rate = rate;
    this.#maxTextBytes = Math.max(MAX_TEXT_BYTES, MAX_LARGEST_MESSAGES * maxMessageBytes);
    this.#onDue = onDue;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get textBytes(): number {
    return this.#textBytes;
  }

  /** Adds a message for which the rate has no room, as a copy. Returns false if what waits is an attack. */
  add(received: Buffer | undefined, cost: number): boolean {
    // A short message may be a slice of 16 KB that were inflated.
    const data = received && Buffer.from(received);
    this.#waiting.push({ data, cost });
    if (data) this.#textBytes += data.length;
    else this.#controlFrames++;
    if (this.#waiting.length === 1) this.#awaitRoom();
    return (
      this.#waiting.length <= MAX_MESSAGES &&
      this.#controlFrames <= MAX_CONTROL_FRAMES &&
      this.#textBytes <= this.#maxTextBytes
    );
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
      if (first.data) this.#textBytes -= first.data.length;
      else this.#controlFrames--;
      this.#onDue(first.data);
    }
    if (!this.isEmpty) this.#awaitRoom();
  };
}
