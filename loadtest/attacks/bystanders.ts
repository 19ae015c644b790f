import { Redis } from 'ioredis';
import { WebSocket } from 'ws';
import { channelName } from '../../src/bus/channel.ts';

/** Latencies of a phase, in ms. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface BystanderOptions {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly sockets: number;
}

/** Number of auctions that the bystanders watch, in equal shares. Events go to them in turn. */
const AUCTIONS = 10;
/** Interval of events. Each is for a tenth of the sockets. */
const EVENT_INTERVAL_MS = 50;
const HANDSHAKES_AT_ONCE = 50;

/** Healthy sockets with one subscription each, which receive a steady flow of events. */
export class Bystanders {
  readonly #redis: Redis;
  readonly #channels: readonly string[];
  readonly #sockets: WebSocket[] = [];
  readonly #publishedAt: number[] = [];
  readonly #epoch = Date.now();
  #latencies: number[] = [];
  #closes = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(redis: Redis, channelPrefix: string) {
    this.#redis = redis;
    this.#channels = Array.from({ length: AUCTIONS }, (_, i) =>
      channelName(channelPrefix, 'bid-events', [{ path: 'bid.auction_id', value: String(i + 1) }]),
    );
  }

  static async open({ port, redisUrl, channelPrefix, sockets }: BystanderOptions): Promise<Bystanders> {
    const bystanders = new Bystanders(new Redis(redisUrl), channelPrefix);
    for (let i = 0; i < sockets; i += HANDSHAKES_AT_ONCE) {
      const count = Math.min(HANDSHAKES_AT_ONCE, sockets - i);
      await Promise.all(Array.from({ length: count }, (_, j) => bystanders.#connect(port, ((i + j) % AUCTIONS) + 1)));
    }
    bystanders.#timer = setInterval(() => bystanders.#publish(), EVENT_INTERVAL_MS);
    return bystanders;
  }

  /** Number of connections that the server has closed. */
  get closes(): number {
    return this.#closes;
  }

  /** Times from publish to arrival, of events received since the last call. */
  take(): Latencies {
    const latencies = latenciesOf(this.#latencies);
    this.#latencies = [];
    return latencies;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) {
      socket.removeAllListeners('close');
      socket.terminate();
    }
    this.#redis.disconnect();
  }

  #publish(): void {
    const event = this.#publishedAt.length;
    const auction = event % AUCTIONS;
    const bid = { bid_id: `${event}`, auction_id: auction + 1, sequence: event, amount: event };
    this.#publishedAt.push(performance.now());
    const header = `@0 ${event} ${Date.now()} ${this.#epoch}\n`;
    void this.#redis.publish(this.#channels[auction]!, header + JSON.stringify({ bid }));
  }

  #connect(port: number, auctionId: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
        perMessageDeflate: false,
      });
      this.#sockets.push(socket);
      socket.once('error', reject);
      socket.on('close', () => this.#closes++);
      socket.once('open', () => socket.send('{"type":"connection_init"}'));
      socket.on('message', (data: Buffer) => {
        const text = data.toString();
        const sequence = /"sequence":(\d+)/.exec(text)?.[1];
        if (sequence !== undefined)
          return void this.#latencies.push(performance.now() - this.#publishedAt[Number(sequence)]!);
        if (text.includes('"connection_ack"')) {
          const query = 'subscription ($id: Int!) { bid_placed(auction_id: $id) { bid_id sequence amount } }';
          socket.send(
            JSON.stringify({
              id: crypto.randomUUID(),
              type: 'subscribe',
              payload: { query, variables: { id: auctionId } },
            }),
          );
          socket.send('{"type":"ping"}');
        } else if (text.includes('"pong"')) resolve();
        else reject(new Error(`a healthy socket got ${text}`));
      });
    });
  }
}

export function latenciesOf(values: readonly number[]): Latencies {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
