import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import type { CompressionParameters } from './compression.ts';

/** Receives the events of a socket. */
export interface SocketListener {
  /** A text message. */
  onMessageFrame(data: Buffer): void;
  onBinaryMessage(): void;
  /** A ping or pong frame. */
  onControlFrame(): void;
  onError(error: Error): void;
  onClosed(code: number): void;
}

/** Internal state of ws 8.23's receiver. */
interface ReceiverState {
  readonly _totalPayloadLength: number;
  readonly _fragmented: number;
}

/** Internal state of ws 8.23: the agreed extensions. The inflater keeps zlib's window until its `cleanup`. */
interface SocketState {
  readonly _extensions: { readonly 'permessage-deflate'?: { readonly params: CompressionParameters; cleanup(): void } };
}

/** A socket with one listener object. Its event handlers are static, because a closure for each of thousands of sockets costs memory. */
export class ConnectionSocket extends WebSocket {
  #listener: SocketListener | undefined;

  /** Called once. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    this.on('message', ConnectionSocket.#onMessage);
    this.on('ping', ConnectionSocket.#onControlFrame);
    this.on('pong', ConnectionSocket.#onControlFrame);
    this.on('error', ConnectionSocket.#onError);
    this.on('close', ConnectionSocket.#onClose);
  }

  /** What both sides have agreed on; undefined: no compression. */
  get compression(): CompressionParameters | undefined {
    return this.#inflater?.params;
  }

  /**
   * True if the peer has begun a message and not completed it. `ws` has no public property for this. Its receiver keeps the
   * announced payload length, and the opcode of a fragmented message, until the message is complete.
   */
  get isMessageIncomplete(): boolean {
    const { _receiver: receiver } = this as unknown as { readonly _receiver: ReceiverState | null };
    return receiver !== null && (receiver._totalPayloadLength > 0 || receiver._fragmented !== 0);
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

  static #onError(this: WebSocket, error: Error): void {
    (this as ConnectionSocket).#listener?.onError(error);
  }

  static #onClose(this: WebSocket, code: number): void {
    (this as ConnectionSocket).#listener?.onClosed(code);
  }
}
