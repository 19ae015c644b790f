import type { WebSocket } from 'ws';
import { openGraphqlSocket, openMany, subscribe } from '../clients/graphql-socket.ts';
import { answerCalls } from '../processes/process-call.ts';
import { Latency } from '../runner/latency.ts';

/** Interval in ms at which slow clients are let read. */
const READ_INTERVAL_MS = 20;

interface SlowClient {
  readonly socket: WebSocket;
  readonly since: number;
  bytes: number;
}

const ages = new Latency();
const counts = { closed: 0, ended: 0, events: 0, skipped: 0 };
const slow: SlowClient[] = [];

interface ConnectOptions {
  readonly port: number;
  readonly sockets: number;
  readonly query: string;
  /** KB a second that each of them reads; 0: all that comes. */
  readonly kiloBytes: number;
}

async function connect({ port, query, kiloBytes }: ConnectOptions): Promise<void> {
  const client = { since: performance.now(), bytes: 0 };
  const socket = await openGraphqlSocket({
    port,
    onMessage: (data) => {
      client.bytes += data.length;
      if (kiloBytes > 0 && isAhead(client, kiloBytes)) socket.pause();
      receive(data);
    },
  });
  socket.on('close', () => counts.closed++);
  subscribe(socket, { query }, '1');
  if (kiloBytes > 0) throttle(Object.assign(client, { socket }), kiloBytes);
}

/** The time is the first field of a result, and what it replaces is at its end. */
function receive(data: Buffer): void {
  const at = /"at":([\d.]+)/.exec(data.toString('latin1', 0, 120))?.[1];
  if (at === undefined) return void counts.ended++;
  counts.events++;
  ages.record(performance.timeOrigin + performance.now() - Number(at));
  counts.skipped += Number(/"skipped":(\d+)/.exec(data.toString('latin1', data.length - 160))?.[1] ?? 0);
}

function isAhead({ since, bytes }: Pick<SlowClient, 'since' | 'bytes'>, kiloBytes: number): boolean {
  return bytes > (performance.now() - since) * kiloBytes;
}

function throttle(client: SlowClient, kiloBytes: number): void {
  slow.push(client);
  if (slow.length > 1) return;
  setInterval(() => {
    for (const client of slow) {
      if (client.socket.readyState !== client.socket.OPEN) continue;
      if (!isAhead(client, kiloBytes)) client.socket.resume();
    }
  }, READ_INTERVAL_MS);
}

const methods = {
  connect: async (options: ConnectOptions) => void (await openMany(options.sockets, () => connect(options))),
  reset: () => {
    ages.reset();
    counts.events = counts.skipped = 0;
  },
  report: () => ({ ...counts, ages: ages.summary() }),
};
export type ReadingClients = typeof methods;
answerCalls(methods);
