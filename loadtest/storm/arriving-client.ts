import { RawConnection } from './raw-connection.ts';

export interface ArrivingPlan {
  readonly port: number;
  readonly path: string;
  /** Text of the subscribe message with the id "1"; undefined: raw ws, which is subscribed once it is open. */
  readonly subscribe: string | undefined;
}

export interface ArrivingOwner {
  onSubscribed(): void;
  onEvent(): void;
  /** The connection was lost, or never opened. */
  onClosed(code: number): void;
}

/** Bytes of a message that contain its type. */
const HEAD_BYTES = 40;
/** Delays of further attempts, with a random half: those of the stock graphql-ws client. */
const FIRST_RETRY_MS = 1000;

/** A client of the storm. It tries again when it is refused, as a stock client does. */
export class ArrivingClient {
  events = 0;
  attempts = 0;
  isSubscribed = false;
  readonly #plan: ArrivingPlan;
  readonly #owner: ArrivingOwner;
  #connection: RawConnection | undefined;
  #isEnded = false;

  constructor(plan: ArrivingPlan, owner: ArrivingOwner) {
    this.#plan = plan;
    this.#owner = owner;
    this.#open();
  }

  end(): void {
    this.#isEnded = true;
    this.#connection?.destroy();
  }

  onOpen(): void {
    if (this.#plan.subscribe === undefined) this.#onSubscribed();
    else this.#connection!.send('{"type":"connection_init"}');
  }

  onMessage(head: string): void {
    if (this.#plan.subscribe === undefined || head.includes('"next"')) return this.#onEvent();
    if (head.includes('"connection_ack"')) {
      // The pong follows the subscribe message through the server's queues.
      this.#connection!.send(this.#plan.subscribe);
      this.#connection!.send('{"type":"ping"}');
    } else if (head.includes('"pong"')) this.#onSubscribed();
    // An unexpected message.
    else this.#connection!.destroy();
  }

  onClosed(code: number): void {
    if (this.#isEnded) return;
    this.isSubscribed = false;
    this.#owner.onClosed(code);
    const delayMs = FIRST_RETRY_MS * 2 ** Math.min(4, this.attempts - 1);
    setTimeout(() => this.#open(), delayMs / 2 + (Math.random() * delayMs) / 2).unref();
  }

  #open(): void {
    this.attempts++;
    const { port, path, subscribe } = this.#plan;
    const plan = { port, path, isGraphql: subscribe !== undefined, textBytes: HEAD_BYTES };
    this.#connection = new RawConnection(plan, this);
  }

  #onSubscribed(): void {
    if (this.isSubscribed) return;
    this.isSubscribed = true;
    this.#owner.onSubscribed();
  }

  #onEvent(): void {
    this.events++;
    this.#owner.onEvent();
  }
}
