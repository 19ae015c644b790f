import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { constants, inflateRawSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { EventStreamReader } from './event-stream-reader.ts';
import { FrameReader, OPCODE, clientFrame } from './frame-reader.ts';
import { NumberAt } from './number-at.ts';

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

/** One read buffer for all sockets: its content is parsed before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);

/**
 * A minimal WebSocket and graphql-transport-ws client. Until `count()` it keeps the text of its messages; afterwards it only counts them,
 * so that thousands of clients cost less than the server.
 */
export class FleetSocket {
  readonly index: number;
  readonly id = randomUUID();
  /** Payload bytes of the last message before `count()`. */
  bytes = 0;
  /** Close code of an ended connection; 1006 without one. */
  closeCode: number | undefined;
  readonly #owner: FleetSocketOwner;
  readonly #socket: Socket;
  readonly #plan: Plan;
  readonly #reader: FrameReader | EventStreamReader;
  #handshake = '';
  #isUpgraded = false;
  #isCounting = false;
  #number: NumberAt | undefined;
  #text: Buffer[] = [];
  #onText: ((text: string) => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor(index: number, plan: Plan, owner: FleetSocketOwner) {
    this.index = index;
    this.#owner = owner;
    this.#plan = plan;
    this.#reader = plan.isStream ? new EventStreamReader(this) : new FrameReader(this);
    this.#socket = connect({
      port: plan.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: readBuffer, callback: (length, buffer) => this.#onRead(buffer as Buffer, length) },
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.closeCode ??= 1006;
      this.#onEnd?.();
    });
  }

  /** Connects and subscribes. Only the first event shows that the subscription is live. @throws Error */
  async open(): Promise<void> {
    const { path, operation, params, isStream, isCompressed, hasWindow } = this.#plan;
    if (isStream) return this.#openStream(path, JSON.stringify(operation));
    const protocol = operation ? 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' : '';
    const offer = `permessage-deflate${hasWindow ? '' : '; server_no_context_takeover'}`;
    const extensions = isCompressed ? `Sec-WebSocket-Extensions: ${offer}\r\n` : '';
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${extensions}${protocol}\r\n`,
    );
    const response = await this.#nextText();
    if (!response.startsWith('HTTP/1.1 101')) throw new Error(`handshake: ${response}`);
    if (!operation) return;
    this.#sendJson({ type: 'connection_init', payload: params });
    const answer = await this.#nextText();
    if ((JSON.parse(answer) as { type: string }).type !== 'connection_ack')
      throw new Error(`connection_init was refused: ${answer}`);
    this.#sendJson({ id: this.id, type: 'subscribe', payload: operation });
  }

  async #openStream(path: string, body: string): Promise<void> {
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const response = await this.#nextText();
    if (!response.startsWith('HTTP/1.1 200')) throw new Error(`stream: ${response}`);
  }

  /** The next message; not after `count()`. @throws Error when the connection ends first. */
  nextMessage(): Promise<string> {
    return this.#nextText();
  }

  /** Counts messages from now on. `numberToEnd`: distance from the end of a number to read in each (`NumberAt`). */
  count(numberToEnd?: number): void {
    this.#isCounting = true;
    if (numberToEnd !== undefined) this.#number = new NumberAt(numberToEnd);
    this.#text = [];
  }

  /** Stops reading. */
  stall(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
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

  onControl(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) this.#socket.write(clientFrame(OPCODE.pong, payload));
    if (opcode !== OPCODE.close) return;
    this.closeCode = payload.length >= 2 ? payload.readUInt16BE() : 1005;
    this.#socket.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
  }

  #onRead(buffer: Buffer, length: number): boolean {
    if (this.#isUpgraded) this.#reader.read(buffer, length);
    else this.#onHandshake(buffer.toString('latin1', 0, length));
    return true;
  }

  #onHandshake(text: string): void {
    this.#handshake += text;
    const end = this.#handshake.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.#isUpgraded = true;
    const rest = Buffer.from(this.#handshake.slice(end + 4), 'latin1');
    this.#onText?.(this.#handshake.slice(0, end));
    this.#handshake = '';
    if (rest.length > 0) this.#reader.read(rest);
  }

  #nextText(): Promise<string> {
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

  #sendJson(message: object): void {
    this.#socket.write(clientFrame(OPCODE.text, JSON.stringify(message)));
  }
}

/** RFC 7692 section 7.2.2. */
function inflated(payload: Buffer): Buffer {
  const flushed = Buffer.concat([payload, Buffer.from([0x00, 0x00, 0xff, 0xff])]);
  return inflateRawSync(flushed, { finishFlush: constants.Z_SYNC_FLUSH });
}
