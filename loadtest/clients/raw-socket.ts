import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { EventStreamReader } from './event-stream-reader.ts';
import { FrameReader, OPCODE, clientFrame } from './frame-reader.ts';
import type { FrameSink } from './frame-reader.ts';

/** One read buffer for all sockets: its content is parsed before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);

/** The request of a WebSocket handshake. `isGraphql`: with the subprotocol; `headers`: further ones, each with its line end. */
export function handshakeOf(path: string, isGraphql: boolean, headers = ''): string {
  const protocol = isGraphql ? 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' : '';
  return (
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${headers}${protocol}\r\n`
  );
}

/**
 * A client on a TCP socket with as little work as its protocol allows, so that thousands of them cost less than the server. It answers
 * pings and close frames.
 */
export abstract class RawSocket implements FrameSink {
  protected readonly socket: Socket;
  /** Close code of an ended connection; 1006 without one. */
  closeCode: number | undefined;
  #reader: FrameReader | EventStreamReader | undefined;
  #head = '';
  #receivedCode: number | undefined;

  /** Sends `request` at once. */
  constructor(port: number, request: string) {
    this.socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: readBuffer, callback: (length, chunk) => this.#onRead(chunk as Buffer, length) },
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => this.onClosed((this.closeCode ??= this.#receivedCode ?? 1006)));
    this.socket.write(request);
  }

  /** Called with the head of the response, and then with the reader of what follows it. */
  protected abstract onOpen(response: string): void;
  protected abstract onClosed(code: number): void;
  abstract onMessage(bytes: number, isCompressed: boolean): void;
  abstract readonly wantsPayload: boolean;
  abstract onPayload(chunk: Buffer, left: number): void;

  send(message: object | string): void {
    this.socket.write(clientFrame(OPCODE.text, typeof message === 'string' ? message : JSON.stringify(message)));
  }

  /** Ends the TCP connection without a close frame. */
  destroy(): void {
    this.socket.destroy();
  }

  onControl(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) this.socket.write(clientFrame(OPCODE.pong, payload));
    if (opcode !== OPCODE.close) return;
    this.#receivedCode = payload.length >= 2 ? payload.readUInt16BE() : 1005;
    this.socket.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
  }

  protected createReader(): FrameReader | EventStreamReader {
    return new FrameReader(this);
  }

  #onRead(chunk: Buffer, length: number): boolean {
    if (this.#reader) this.#reader.read(chunk, length);
    else this.#onHead(chunk.toString('latin1', 0, length));
    return true;
  }

  #onHead(text: string): void {
    this.#head += text;
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const [head, rest] = [this.#head.slice(0, end), Buffer.from(this.#head.slice(end + 4), 'latin1')];
    this.#head = '';
    this.#reader = this.createReader();
    this.onOpen(head);
    if (rest.length > 0) this.#reader.read(rest);
  }
}
