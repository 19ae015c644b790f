import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { RawSocket, handshakeOf } from '../clients/raw-socket.ts';
import { answerCalls } from '../processes/process-call.ts';
import { sumCounts } from '../runner/spread.ts';

/** The process of the clients that arrive at once. */

export interface Arrival {
  readonly path: string;
  /** Text of the subscribe message with the id "1"; undefined: raw ws, which is subscribed once it is open. */
  readonly subscribe: string | undefined;
}

export interface StormPlan {
  readonly port: number;
  readonly sockets: number;
  /** Client i has the entry with index i modulo the length. */
  readonly arrivals: readonly Arrival[];
  /** Time after which clients that are not subscribed count as lost. */
  readonly timeoutMs: number;
}

/** Bytes of a message that contain its type. */
const HEAD_BYTES = 40;
/** Delays of further attempts, with a random half: those of the stock graphql-ws client. */
const FIRST_RETRY_MS = 1000;

const clients: ArrivingClient[] = [];
/** Connections that the server closed or never took, by code. */
const closes: Record<string, number> = {};
let subscribed = 0;
/** `halfMs`, `allMs`: until half of them, and the last one, were subscribed. */
let [startedAt, halfMs, allMs] = [0, 0, 0];

// The steady clients share this core. With a lower priority this process does not add to their pauses.
setPriority(Math.min(19, getPriority() + 10));

/** A client of the storm. It tries again when it is refused, as a stock client does. */
class ArrivingClient {
  events = 0;
  attempts = 0;
  isSubscribed = false;
  readonly port: number;
  readonly arrival: Arrival;

  constructor(port: number, arrival: Arrival) {
    this.port = port;
    this.arrival = arrival;
    this.open();
  }

  open(): void {
    this.attempts++;
    new ArrivingSocket(this);
  }

  onSubscribed(): void {
    if (this.isSubscribed) return;
    this.isSubscribed = true;
    subscribed++;
    allMs = performance.now() - startedAt;
    if (subscribed * 2 === clients.length) halfMs = allMs;
  }

  onClosed(code: number): void {
    this.isSubscribed = false;
    closes[code] = (closes[code] ?? 0) + 1;
    const delayMs = FIRST_RETRY_MS * 2 ** Math.min(4, this.attempts - 1);
    setTimeout(() => this.open(), delayMs / 2 + (Math.random() * delayMs) / 2).unref();
  }
}

class ArrivingSocket extends RawSocket {
  readonly wantsPayload = true;
  readonly #client: ArrivingClient;
  #head = '';

  constructor(client: ArrivingClient) {
    const { path, subscribe } = client.arrival;
    super(client.port, handshakeOf(path, subscribe !== undefined));
    this.#client = client;
  }

  protected onOpen(response: string): void {
    if (!response.startsWith('HTTP/1.1 101')) return this.destroy();
    if (this.#client.arrival.subscribe === undefined) this.#client.onSubscribed();
    else this.send('{"type":"connection_init"}');
  }

  protected onClosed(code: number): void {
    this.#client.onClosed(code);
  }

  onPayload(chunk: Buffer): void {
    const missing = HEAD_BYTES - this.#head.length;
    if (missing > 0) this.#head += chunk.toString('latin1', 0, missing);
  }

  onMessage(): void {
    const head = this.#head;
    const { subscribe } = this.#client.arrival;
    this.#head = '';
    if (subscribe === undefined || head.includes('"next"')) this.#client.events++;
    else if (head.includes('"connection_ack"')) {
      // The pong follows the subscribe message through the server's queues.
      this.send(subscribe);
      this.send('{"type":"ping"}');
    } else if (head.includes('"pong"')) this.#client.onSubscribed();
    // An unexpected message.
    else this.destroy();
  }
}

async function arrive({ port, sockets, arrivals, timeoutMs }: StormPlan) {
  const cpu = process.cpuUsage();
  startedAt = performance.now();
  for (let i = 0; i < sockets; i++) clients.push(new ArrivingClient(port, arrivals[i % arrivals.length]!));
  const subscribedNow = () => clients.reduce((sum, { isSubscribed }) => sum + Number(isSubscribed), 0);
  while (subscribedNow() < sockets && performance.now() - startedAt < timeoutMs) await delay(20);
  const { user, system } = process.cpuUsage(cpu);
  return { subscribed: subscribedNow(), halfMs, allMs, closes, clientCpuMs: (user + system) / 1000 };
}

/** Waits until each client has this number of events. Returns the counts of clients that have another one at the end, by their events. */
async function events({ count, timeoutMs }: { count: number; timeoutMs: number }): Promise<Record<string, number>> {
  const deadline = performance.now() + timeoutMs;
  while (clients.some((client) => client.events < count) && performance.now() < deadline) await delay(20);
  return sumCounts(clients.filter((client) => client.events !== count).map((client) => ({ [client.events]: 1 })));
}

const methods = { arrive, events };
export type ArrivingClients = typeof methods;
answerCalls(methods);
