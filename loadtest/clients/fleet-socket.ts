import { randomUUID } from 'node:crypto';
import { constants, inflateRawSync } from 'node:zlib';
import { EventStreamReader } from './event-stream-reader.ts';
import { FrameReader } from './frame-reader.ts';
import { NumberAt } from './number-at.ts';
import { RawSocket, handshakeOf } from './raw-socket.ts';

/** What a connection sends, and what it expects. */
export interface Plan {
  readonly port: number;
  readonly path: string;
  /** undefined: no GraphQL; the socket is live when it is open. */
  readonly operation: { readonly query: string; readonly variables: object } | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** True: it subscribes over server-sent events. */
  readonly isStream?: boolean;
  /** True: it offers permessage-deflate. It inflates only its first message. */
  readonly isCompressed?: boolean;
  /** True: a compressed message may refer to the one before it; otherwise all results have one length. */
  readonly hasWindow?: boolean;
}

export interface FleetSocketOwner {
  /** Called for each message after `count()`. `bytes`: length of its payload. `number`: see `count()`. */
  onMessage(socket: FleetSocket, bytes: number, number: number | undefined): void;
}

/** A client with one subscription. Until `count()` it keeps the text of its messages; afterwards it only counts them. */
export class FleetSocket extends RawSocket {
  readonly index: number;
  readonly id = randomUUID();
  /** Payload bytes of the last message before `count()`. */
  bytes = 0;
  readonly #owner: FleetSocketOwner;
  readonly #plan: Plan;
  #isCounting = false;
  #number: NumberAt | undefined;
  #text: Buffer[] = [];
  #onText: ((text: string) => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor(index: number, plan: Plan, owner: FleetSocketOwner) {
    super(plan.port, requestOf(plan));
    this.index = index;
    this.#owner = owner;
    this.#plan = plan;
  }

  /** Resolves when it has subscribed. Only the first event shows that the subscription is live. @throws Error */
  async open(): Promise<void> {
    const { operation, params, isStream } = this.#plan;
    const response = await this.nextMessage();
    if (!response.startsWith(`HTTP/1.1 ${isStream ? 200 : 101}`)) throw new Error(`handshake: ${response}`);
    if (!operation || isStream) return;
    this.send({ type: 'connection_init', payload: params });
    const answer = await this.nextMessage();
    if ((JSON.parse(answer) as { type: string }).type !== 'connection_ack')
      throw new Error(`connection_init was refused: ${answer}`);
    this.send({ id: this.id, type: 'subscribe', payload: operation });
  }

  /** The next message; not after `count()`. @throws Error when the connection ends first. */
  nextMessage(): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`socket ${this.index} was closed with ${this.closeCode}`));
      if (this.closeCode !== undefined) return fail();
      this.#onEnd = fail;
      this.#onText = (text) => {
        this.#onText = this.#onEnd = undefined;
        resolve(text);
      };
    });
  }

  /** Counts messages from now on. `numberToEnd`: distance from the end of a number to read in each (`NumberAt`). */
  count(numberToEnd?: number): void {
    this.#isCounting = true;
    if (numberToEnd !== undefined) this.#number = new NumberAt(numberToEnd);
    this.#text = [];
  }

  /** Stops reading. */
  stall(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  onMessage(bytes: number, isCompressed = false): void {
    if (this.#isCounting) return this.#owner.onMessage(this, bytes, this.#number?.take());
    const payload = Buffer.concat(this.#text);
    this.#text = [];
    this.bytes = bytes;
    this.#onText?.((isCompressed ? inflated(payload) : payload).toString());
  }

  get wantsPayload(): boolean {
    return !this.#isCounting || this.#number !== undefined;
  }

  onPayload(chunk: Buffer, left: number): void {
    this.#number?.read(chunk, left);
    if (!this.#isCounting) this.#text.push(Buffer.from(chunk));
  }

  protected override createReader(): FrameReader | EventStreamReader {
    return this.#plan.isStream ? new EventStreamReader(this) : new FrameReader(this);
  }

  protected onOpen(response: string): void {
    this.#onText?.(response);
  }

  protected onClosed(): void {
    this.#onEnd?.();
  }
}

function requestOf({ path, operation, isStream, isCompressed, hasWindow }: Plan): string {
  const offer = `permessage-deflate${hasWindow ? '' : '; server_no_context_takeover'}`;
  if (!isStream) {
    return handshakeOf(path, operation !== undefined, isCompressed ? `Sec-WebSocket-Extensions: ${offer}\r\n` : '');
  }
  const body = JSON.stringify(operation);
  return (
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** RFC 7692 section 7.2.2. */
function inflated(payload: Buffer): Buffer {
  const flushed = Buffer.concat([payload, Buffer.from([0x00, 0x00, 0xff, 0xff])]);
  return inflateRawSync(flushed, { finishFlush: constants.Z_SYNC_FLUSH });
}
