import { once } from 'node:events';
import { MessageType } from 'graphql-ws';
import type { Message, SubscribePayload } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { TestEvents } from './test-events.ts';

const OPERATION = '1';

/** One WebSocket with one operation, whose messages go to `events`. */
export class TestConnection {
  readonly #socket: WebSocket;
  readonly #events: TestEvents;
  #onReply: () => void = () => undefined;

  constructor(url: string, headers: Readonly<Record<string, string>>, events: TestEvents) {
    this.#socket = new WebSocket(url, 'graphql-transport-ws', { headers: { ...headers } });
    this.#events = events;
    this.#socket.on('message', (data: Buffer) => this.#onMessage(JSON.parse(data.toString()) as Message));
    this.#socket.on('close', (code, reason) => {
      events.finish(new Error(`the connection was closed: ${code} ${reason.toString()}`.trim()));
      this.#onReply();
    });
    this.#socket.on('error', (error) => events.finish(error));
  }

  /**
   * Resolves when the subscription is live, or has ended.
   * @param settled resolves when the server has started the operations that it has read
   */
  async subscribe(
    payload: SubscribePayload,
    params: Readonly<Record<string, unknown>> | undefined,
    settled: () => Promise<void>,
  ): Promise<void> {
    await once(this.#socket, 'open');
    await this.#exchange({ type: MessageType.ConnectionInit, ...(params && { payload: params }) });
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#send({ id: OPERATION, type: MessageType.Subscribe, payload });
    // Messages of a connection are read in order.
    await this.#exchange({ type: MessageType.Ping });
    await settled();
    // The reply comes after the error of an operation that was refused.
    await this.#exchange({ type: MessageType.Ping });
  }

  close(): void {
    this.#socket.close(1000);
  }

  #exchange(message: Message): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve();
    const replied = new Promise<void>((resolve) => (this.#onReply = resolve));
    this.#send(message);
    return replied;
  }

  #send(message: Message): void {
    this.#socket.send(JSON.stringify(message));
  }

  #onMessage(message: Message): void {
    if (message.type === MessageType.ConnectionAck || message.type === MessageType.Pong) this.#onReply();
    else if (message.type === MessageType.Next) this.#events.add(message.payload as Parameters<TestEvents['add']>[0]);
    else if (message.type === MessageType.Complete) this.#events.finish('complete');
    else if (message.type === MessageType.Error) {
      const texts = message.payload.map(({ message: text, extensions }) => {
        const code = extensions?.['code'];
        return typeof code === 'string' ? `${text} (${code})` : text;
      });
      this.#events.finish(new Error(texts.join('\n')));
    }
  }
}
