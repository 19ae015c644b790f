import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FrameReader, OPCODE, clientFrame } from './frame-reader.ts';
import { NumberAt } from './number-at.ts';

/** What a connection says, and must get back. */
export interface Plan {
  readonly port: number;
  readonly path: string;
  /** undefined: no GraphQL, live as soon as it is open. */
  readonly operation: { readonly query: string; readonly variables: object } | undefined;
  readonly params: Readonly<Record<string, string>>;
}

export interface FleetSocketOwner {
  /** A whole message came after `count()`. `bytes`: of its payload. `number`: see `count()`. */
  onMessage(socket: FleetSocket, bytes: number, number: number | undefined): void;
}

/** One read buffer for all sockets: what is in it is looked at before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);

/**
 * A client that does the WebSocket handshake and graphql-transport-ws by hand. Until `count()` it keeps the text of its messages; from
 * then on it only counts, so that thousands of them cost less than what they measure.
 */
export class FleetSocket {
  readonly index: number;
  readonly id = randomUUID();
  /** Set when the connection has ended: its close code, 1006 where there was none. */
  closeCode: number | undefined;
  readonly #owner: FleetSocketOwner;
  readonly #socket: Socket;
  readonly #plan: Plan;
  readonly #reader: FrameReader;
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
    this.#reader = new FrameReader(this);
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

  /** Opens it and sends its subscription; whether that is live shows only in the first event. @throws Error */
  async open(): Promise<void> {
    const { path, operation, params } = this.#plan;
    const protocol = operation ? 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' : '';
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${protocol}\r\n`,
    );
    const response = await this.#nextText();
    if (!response.startsWith('HTTP/1.1 101')) throw new Error(`handshake: ${response}`);
    if (!operation) return;
    this.#sendJson({ type: 'connection_init', payload: params });
    const answer = await this.#nextText();
    if ((JSON.parse(answer) as { type: string }).type !== 'connection_ack') throw new Error(`not let in: ${answer}`);
    this.#sendJson({ id: this.id, type: 'subscribe', payload: operation });
  }

  /** The next message, which must be there before `count()`. @throws Error when the connection ends first. */
  nextMessage(): Promise<string> {
    return this.#nextText();
  }

  /** `numberToEnd`: of a number in every message, to be read of each (`NumberAt`). */
  count(numberToEnd?: number): void {
    this.#isCounting = true;
    if (numberToEnd !== undefined) this.#number = new NumberAt(numberToEnd);
    this.#text = [];
  }

  /** From now on nothing is read of it. */
  stall(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  onMessage(bytes: number): void {
    if (this.#isCounting) return this.#owner.onMessage(this, bytes, this.#number?.take());
    const text = Buffer.concat(this.#text).toString();
    this.#text = [];
    this.#onText?.(text);
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
