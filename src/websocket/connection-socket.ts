import { WebSocket } from 'ws';
import type { RawData } from 'ws';

/** What a connection wants to hear of its socket. */
export interface SocketListener {
  onMessageFrame(data: Buffer): void;
  onPong(): void;
  onError(error: Error): void;
  onClosed(code: number): void;
}

/** A socket that knows who listens. The listeners themselves are shared functions: closures of thousands of sockets are not free. */
export class ConnectionSocket extends WebSocket {
  #listener: SocketListener | undefined;

  /** To be called once. */
  listen(listener: SocketListener): void {
    this.#listener = listener;
    this.on('message', ConnectionSocket.#onMessage);
    this.on('pong', ConnectionSocket.#onPong);
    this.on('error', ConnectionSocket.#onError);
    this.on('close', ConnectionSocket.#onClose);
  }

  static #onMessage(this: WebSocket, data: RawData): void {
    (this as ConnectionSocket).#listener?.onMessageFrame(data as Buffer);
  }

  static #onPong(this: WebSocket): void {
    (this as ConnectionSocket).#listener?.onPong();
  }

  static #onError(this: WebSocket, error: Error): void {
    (this as ConnectionSocket).#listener?.onError(error);
  }

  static #onClose(this: WebSocket, code: number): void {
    (this as ConnectionSocket).#listener?.onClosed(code);
  }
}
