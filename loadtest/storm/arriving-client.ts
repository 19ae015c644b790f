import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FrameReader, OPCODE, clientFrame } from '../fanout/client/frame-reader.ts';

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

/** One read buffer for all sockets: its content is parsed before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);
const HEAD_BYTES = 40;
/** Delays of further attempts, with a random half: those of the stock graphql-ws client. */
const FIRST_RETRY_MS = 1000;

/** A client of the storm: as little work as the protocol allows. It tries again when it is refused, as a stock client does. */
export class ArrivingClient {
  events = 0;
  attempts = 0;
  isSubscribed = false;
  readonly #plan: ArrivingPlan;
  readonly #owner: ArrivingOwner;
  #socket: Socket | undefined;
  #reader = new FrameReader(this);
  #isUpgraded = false;
  #head = '';
  #code = 1006;
  #isEnded = false;

  constructor(plan: ArrivingPlan, owner: ArrivingOwner) {
    this.#plan = plan;
    this.#owner = owner;
    this.#open();
  }

  end(): void {
    this.#isEnded = true;
    this.#socket?.destroy();
  }

  get wantsPayload(): boolean {
    return true;
  }

  onPayload(chunk: Buffer): void {
    if (this.#head.length < HEAD_BYTES) this.#head += chunk.toString('latin1', 0, HEAD_BYTES - this.#head.length);
  }

  onMessage(): void {
    const head = this.#head;
    this.#head = '';
    if (this.#plan.subscribe === undefined || head.includes('"next"')) return this.#onEvent();
    if (head.includes('"connection_ack"')) {
      // The pong follows the subscribe message through the server's queues.
      this.#send(this.#plan.subscribe);
      this.#send('{"type":"ping"}');
    } else if (head.includes('"pong"')) this.#onSubscribed();
    else this.#socket!.destroy(new Error(`unexpected: ${head}`));
  }

  onControl(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) this.#socket!.write(clientFrame(OPCODE.pong, payload));
    if (opcode !== OPCODE.close) return;
    this.#code = payload.length >= 2 ? payload.readUInt16BE() : 1005;
    this.#socket!.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
  }

  #open(): void {
    this.attempts++;
    const { port, path, subscribe } = this.#plan;
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: readBuffer, callback: (length, buffer) => this.#onRead(buffer as Buffer, length) },
    });
    this.#socket = socket;
    this.#reader = new FrameReader(this);
    this.#isUpgraded = false;
    socket.on('error', () => undefined);
    socket.on('close', () => this.#onClosed());
    const protocol = subscribe === undefined ? '' : 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n';
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${protocol}\r\n`,
    );
  }

  #onRead(buffer: Buffer, length: number): boolean {
    if (this.#isUpgraded) this.#reader.read(buffer, length);
    else this.#onHandshake(buffer.toString('latin1', 0, length));
    return true;
  }

  #onHandshake(text: string): void {
    // A reply of 200 bytes arrives in one piece.
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || !text.startsWith('HTTP/1.1 101')) return void this.#socket!.destroy();
    this.#isUpgraded = true;
    if (this.#plan.subscribe === undefined) this.#onSubscribed();
    else this.#send('{"type":"connection_init"}');
    const rest = Buffer.from(text.slice(end + 4), 'latin1');
    if (rest.length > 0) this.#reader.read(rest);
  }

  #send(text: string): void {
    this.#socket!.write(clientFrame(OPCODE.text, text));
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

  #onClosed(): void {
    if (this.#isEnded) return;
    this.isSubscribed = false;
    this.#owner.onClosed(this.#code);
    this.#code = 1006;
    const delayMs = FIRST_RETRY_MS * 2 ** Math.min(4, this.attempts - 1);
    setTimeout(() => this.#open(), delayMs / 2 + (Math.random() * delayMs) / 2).unref();
  }
}
