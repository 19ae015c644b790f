import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FrameReader, OPCODE, clientFrame } from '../fanout/client/frame-reader.ts';

export interface RawConnectionPlan {
  readonly port: number;
  readonly path: string;
  /** False: without a subprotocol, for a server that is not GraphQL. */
  readonly isGraphql: boolean;
  /** Bytes of each message that `onMessage` receives; what follows is not read. */
  readonly textBytes: number;
  readonly localAddress?: string;
}

export interface RawConnectionOwner {
  onOpen(): void;
  /** A message, cut after `textBytes`. */
  onMessage(text: string): void;
  /** The connection was lost, or never opened. It is called once. */
  onClosed(code: number): void;
}

/** One read buffer for all sockets: its content is parsed before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);

/** A WebSocket on a TCP socket with as little work as the protocol allows: the client's process is seldom the limit. */
export class RawConnection {
  readonly #plan: RawConnectionPlan;
  readonly #owner: RawConnectionOwner;
  readonly #socket: Socket;
  readonly #reader = new FrameReader(this);
  #isUpgraded = false;
  #text = '';
  #code = 1006;

  constructor(plan: RawConnectionPlan, owner: RawConnectionOwner) {
    this.#plan = plan;
    this.#owner = owner;
    const { port, path, isGraphql, localAddress } = plan;
    const socket = connect({
      port,
      host: '127.0.0.1',
      ...(localAddress !== undefined && { localAddress }),
      noDelay: true,
      onread: { buffer: readBuffer, callback: (length, buffer) => this.#onRead(buffer as Buffer, length) },
    });
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => owner.onClosed(this.#code));
    const protocol = isGraphql ? 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' : '';
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${protocol}\r\n`,
    );
  }

  send(text: string): void {
    this.#socket.write(clientFrame(OPCODE.text, text));
  }

  /** Ends the TCP connection without a close frame. */
  destroy(): void {
    this.#socket.destroy();
  }

  get wantsPayload(): boolean {
    return true;
  }

  onPayload(chunk: Buffer): void {
    const missing = this.#plan.textBytes - this.#text.length;
    if (missing > 0) this.#text += chunk.toString('latin1', 0, missing);
  }

  onMessage(): void {
    const text = this.#text;
    this.#text = '';
    this.#owner.onMessage(text);
  }

  onControl(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) this.#socket.write(clientFrame(OPCODE.pong, payload));
    if (opcode !== OPCODE.close) return;
    this.#code = payload.length >= 2 ? payload.readUInt16BE() : 1005;
    this.#socket.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
  }

  #onRead(buffer: Buffer, length: number): boolean {
    if (this.#isUpgraded) this.#reader.read(buffer, length);
    else this.#onHandshake(buffer.toString('latin1', 0, length));
    return true;
  }

  #onHandshake(text: string): void {
    // A reply of 200 bytes arrives in one piece.
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || !text.startsWith('HTTP/1.1 101')) return this.destroy();
    this.#isUpgraded = true;
    this.#owner.onOpen();
    const rest = Buffer.from(text.slice(end + 4), 'latin1');
    if (rest.length > 0) this.#reader.read(rest);
  }
}
