import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { FrameReader, OPCODE, clientFrame } from '../../fanout/client/frame-reader.ts';
import type { FrameSink } from '../../fanout/client/frame-reader.ts';
import type { Client, ClientOwner, ClientPlan } from './client.ts';

/** Operation ids have the length of a stock client's. The last digit is the subscription's index. */
const ID_START = 'c0ffee00-0000-4000-8000-00000000000';
const NEXT_START = Buffer.from(`{"id":"${ID_START}`);
const NEXT_END = Buffer.from('","type":"next","payload":');
const PAYLOAD_INDEX = NEXT_START.length + 1 + NEXT_END.length;

const HANDSHAKE =
  'GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

/** One read buffer for all sockets: its content is parsed before the next read. */
const readBuffer = Buffer.alloc(256 * 1024);
const SLOW_READ_BYTES = 4096;
const SLOW_READ_INTERVAL_MS = 1000;

/**
 * A minimal graphql-transport-ws client, so that thousands of them cost less than the server. It reconnects like the stock client: after
 * 2^n s plus 0.3 to 3 s.
 */
export class RawClient implements Client {
  readonly #plan: ClientPlan;
  readonly #owner: ClientOwner;
  #connection: RawConnection | undefined;
  #retries = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(plan: ClientPlan, owner: ClientOwner) {
    this.#plan = plan;
    this.#owner = owner;
  }

  start(): void {
    if (this.#isStopped) return;
    this.#owner.onConnecting();
    const connection = new RawConnection(this.#plan, {
      onReady: () => {
        this.#retries = 0;
        this.#owner.onReady();
      },
      onClosed: (code) => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#owner.onClosed(code);
        const waitMs = 2 ** this.#retries++ * 1000 + this.#plan.dice.between(300, 3000);
        this.#timer = setTimeout(() => this.start(), waitMs);
      },
      onResult: (subscription, payload) => this.#owner.onResult(subscription, payload),
      onFailure: (what) => this.#owner.onFailure(what),
    });
    this.#connection = connection;
  }

  reconnect(): void {
    const connection = this.#connection;
    if (!connection) return;
    this.#connection = undefined;
    connection.close();
    this.#owner.onClosed(1000);
    this.start();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy();
  }
}

class RawConnection implements FrameSink {
  readonly wantsPayload = true;
  readonly #plan: ClientPlan;
  readonly #owner: Omit<ClientOwner, 'onConnecting' | 'onGap'>;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  #handshake: string | undefined = '';
  /** Parts of the incoming message. The last one may be a view of the read buffer. */
  #parts: Buffer[] = [];
  #code: number | undefined;
  #isClosing = false;
  #slowTimer: NodeJS.Timeout | undefined;

  constructor(plan: ClientPlan, owner: Omit<ClientOwner, 'onConnecting' | 'onGap'>) {
    this.#plan = plan;
    this.#owner = owner;
    this.#reader = new FrameReader(this);
    const buffer = plan.isSlow ? Buffer.alloc(SLOW_READ_BYTES) : readBuffer;
    this.#socket = connect({
      port: plan.port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer, callback: (length, chunk) => this.#onRead(chunk as Buffer, length) },
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      clearInterval(this.#slowTimer);
      if (!this.#isClosing) owner.onClosed(this.#code ?? 1006);
    });
    this.#socket.write(HANDSHAKE);
  }

  close(): void {
    this.#isClosing = true;
    const code = Buffer.alloc(2);
    code.writeUInt16BE(1000);
    this.#socket.end(clientFrame(OPCODE.close, code));
  }

  destroy(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  onPayload(chunk: Buffer): void {
    this.#parts.push(chunk);
  }

  onMessage(): void {
    const message = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    if (this.#isClosing) return;
    if (isNext(message)) {
      const subscription = message[NEXT_START.length]! - 48;
      return this.#owner.onResult(subscription, message.subarray(PAYLOAD_INDEX, message.length - 1));
    }
    this.#onOther(message.toString());
  }

  onControl(opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.ping) this.#socket.write(clientFrame(OPCODE.pong, payload));
    if (opcode !== OPCODE.close || this.#isClosing) return;
    this.#code = payload.length >= 2 ? payload.readUInt16BE() : 1005;
    this.#socket.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
  }

  /** Returns false to stop reading. */
  #onRead(chunk: Buffer, length: number): boolean {
    if (this.#handshake === undefined) this.#reader.read(chunk, length);
    else this.#onHandshake(chunk.toString('latin1', 0, length));
    const last = this.#parts.length - 1;
    if (last >= 0) this.#parts[last] = Buffer.from(this.#parts[last]!);
    return this.#slowTimer === undefined;
  }

  #onHandshake(text: string): void {
    this.#handshake += text;
    const end = this.#handshake!.indexOf('\r\n\r\n');
    if (end < 0) return;
    const answer = this.#handshake!;
    this.#handshake = undefined;
    if (!answer.startsWith('HTTP/1.1 101')) {
      this.#owner.onFailure(`handshake: ${answer.split('\r\n', 1)[0]}`);
      return void this.#socket.destroy();
    }
    this.#send({ type: 'connection_init' });
    const rest = Buffer.from(answer.slice(end + 4), 'latin1');
    if (rest.length > 0) this.#reader.read(rest);
  }

  #onOther(text: string): void {
    const { type } = JSON.parse(text) as { type: string };
    if (type === 'connection_ack') return this.#subscribe();
    if (type === 'ping') return this.#send({ type: 'pong' });
    if (type !== 'pong') return this.#owner.onFailure(text.slice(0, 300));
    if (this.#plan.isSlow) this.#slowTimer = setInterval(() => this.#socket.resume(), SLOW_READ_INTERVAL_MS);
    this.#owner.onReady();
  }

  #subscribe(): void {
    this.#plan.interests.forEach(({ query, variables }, place) =>
      this.#send({ id: `${ID_START}${place}`, type: 'subscribe', payload: { query, variables } }),
    );
    this.#send({ type: 'ping' });
  }

  #send(message: object): void {
    this.#socket.write(clientFrame(OPCODE.text, JSON.stringify(message)));
  }
}

/** Whether the message is a result of a subscription of this client, in crier's layout. */
function isNext(message: Buffer): boolean {
  return (
    message.length > PAYLOAD_INDEX &&
    message.compare(NEXT_START, 0, NEXT_START.length, 0, NEXT_START.length) === 0 &&
    message.compare(NEXT_END, 0, NEXT_END.length, NEXT_START.length + 1, PAYLOAD_INDEX) === 0
  );
}
