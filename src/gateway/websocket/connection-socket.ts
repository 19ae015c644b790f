import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import type { CompressionParameters } from './compression.ts';

/** Receives the events of a socket. */
export interface SocketListener {
  /** A text message. */
  onMessageFrame(data: Buffer): void;
  onBinaryMessage(): void;
  /** A ping frame. */
  onControlFrame(): void;
  onPong(text: string): void;
  onError(error: Error): void;
  /** The peer has violated the protocol of WebSockets, and must be closed with this code. */
  onViolation(code: number, text: string): void;
  /** The peer's compressed message refers to an earlier one, although it has agreed to compress each alone. */
  onKeptWindow(): void;
  onClosed(code: number): void;
}

/** Internal state of ws 8.23's receiver, a stream. */
interface ReceiverState {
  readonly errored: NodeJS.ErrnoException | null;
  _maxPayload: number;
  _maxBufferedChunks: number;
  readonly _totalPayloadLength: number;
  readonly _fragmented: number;
}

/** Internal state of ws 8.23: the agreed extensions. The inflater keeps zlib's window until its `cleanup`. */
interface SocketState {
  readonly _extensions: {
    readonly 'permessage-deflate'?: { readonly params: CompressionParameters; _maxPayload: number; cleanup(): void };
  };
}

/** Of a chunk of a message, on average: smaller ones take more memory than their bytes. */
const CHUNK_BYTES = 256;

/** A socket with one listener object. Its event handlers are static, because a closure for each of thousands of sockets costs memory. */
export class ConnectionSocket extends WebSocket {
  #listener: SocketListener | undefined;

  /** Called once. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    this.on('message', ConnectionSocket.#onMessage);
    this.on('ping', ConnectionSocket.#onControlFrame);
    this.on('pong', ConnectionSocket.#onPong);
    this.on('error', ConnectionSocket.#onError);
    this.on('close', ConnectionSocket.#onClose);
  }

  /** What both sides have agreed on; undefined: no compression. */
  get compression(): CompressionParameters | undefined {
    return this.#inflater?.params;
  }

  /** Bytes of a message that is received; 0: none is, before the handshake and after the end. */
  get maxReceivedBytes(): number {
    return this.#receiver?._maxPayload ?? 0;
  }

  /** Bounds what is received from now on, which `ws` knows only for all sockets of a server. */
  set maxReceivedBytes(bytes: number) {
    const receiver = this.#receiver;
    const inflater = this.#inflater;
    if (receiver) receiver._maxPayload = bytes;
    if (receiver) receiver._maxBufferedChunks = Math.ceil(bytes / CHUNK_BYTES);
    if (inflater) inflater._maxPayload = bytes;
  }

  /** Called by ws, too: without a reason after a violation (1002, 1007, 1008 and 1009), of which the client and the log would learn nothing. */
  override close(code?: number, reason?: string | Buffer): void {
    const error = reason === undefined && this.readyState === WebSocket.OPEN ? this.#receiver?.errored : undefined;
    if (!error || !this.#listener) super.close(code, reason);
    else if (error.message === BEYOND_WINDOW) this.#listener.onKeptWindow();
    else this.#listener.onViolation(code!, violationText(error));
  }

  /**
   * True if the peer has begun a message and not completed it. `ws` has no public property for this. Its receiver keeps the
   * announced payload length, and the opcode of a fragmented message, until the message is complete.
   */
  get isMessageIncomplete(): boolean {
    const receiver = this.#receiver;
    return receiver !== null && (receiver._totalPayloadLength > 0 || receiver._fragmented !== 0);
  }

  get #receiver(): ReceiverState | null {
    return (this as unknown as { readonly _receiver: ReceiverState | null })._receiver;
  }

  get #inflater() {
    return (this as unknown as SocketState)._extensions['permessage-deflate'];
  }

  static #onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
    const listener = (this as ConnectionSocket).#listener;
    // Frees the memory of zlib: the client may send nothing more.
    (this as ConnectionSocket).#inflater?.cleanup();
    if (isBinary) listener?.onBinaryMessage();
    else listener?.onMessageFrame(data as Buffer);
  }

  static #onControlFrame(this: WebSocket): void {
    (this as ConnectionSocket).#listener?.onControlFrame();
  }

  static #onPong(this: WebSocket, data: Buffer): void {
    (this as ConnectionSocket).#listener?.onPong(data.toString());
  }

  static #onError(this: WebSocket, error: Error): void {
    (this as ConnectionSocket).#listener?.onError(error);
  }

  static #onClose(this: WebSocket, code: number): void {
    (this as ConnectionSocket).#listener?.onClosed(code);
  }
}

/** zlib's text for a reference to bytes before the first one. */
const BEYOND_WINDOW = 'invalid distance too far back';

/** ws names its own errors; those of zlib say nothing about a message. */
function violationText({ code = '', message }: NodeJS.ErrnoException): string {
  return code.startsWith('WS_ERR_') ? message : `A compressed message cannot be inflated: ${message}`;
}
