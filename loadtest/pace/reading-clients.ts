import type { WebSocket } from 'ws';
import { openGraphqlSocket, openMany, subscribe } from '../clients/graphql-socket.ts';
import { answerCalls } from '../processes/process-call.ts';
import { Latency } from '../runner/latency.ts';

/** Interval in ms at which slow clients are let read. */
const READ_INTERVAL_MS = 20;

interface Kind {
  readonly ages: Latency;
  readonly faults: { closed: number; ended: number };
  events: number;
  skipped: number;
}

interface SlowClient {
  readonly socket: WebSocket;
  readonly since: number;
  bytes: number;
}

const kinds = new Map<string, Kind>();
const slow: SlowClient[] = [];

function kindOf(name: string): Kind {
  let kind = kinds.get(name);
  if (!kind) kinds.set(name, (kind = { ages: new Latency(), faults: { closed: 0, ended: 0 }, events: 0, skipped: 0 }));
  return kind;
}

interface ConnectOptions {
  readonly name: string;
  readonly port: number;
  readonly sockets: number;
  readonly query: string;
  /** KB a second that each of them reads; 0: all that comes. */
  readonly kiloBytes: number;
}

async function connect({ name, port, query, kiloBytes }: ConnectOptions): Promise<void> {
  const kind = kindOf(name);
  const client = { since: performance.now(), bytes: 0 };
  const socket = await openGraphqlSocket({
    port,
    onMessage: (data) => {
      client.bytes += data.length;
      if (kiloBytes > 0 && isAhead(client, kiloBytes)) socket.pause();
      receive(kind, data);
    },
  });
  socket.on('close', () => kind.faults.closed++);
  subscribe(socket, { query }, '1');
  if (kiloBytes > 0) throttle(Object.assign(client, { socket }), kiloBytes);
}

/** The time is the first field of a result, and what it replaces is at its end. */
function receive(kind: Kind, data: Buffer): void {
  const at = /"at":([\d.]+)/.exec(data.toString('latin1', 0, 120))?.[1];
  if (at === undefined) return void kind.faults.ended++;
  kind.events++;
  kind.ages.record(performance.timeOrigin + performance.now() - Number(at));
  kind.skipped += Number(/"skipped":(\d+)/.exec(data.toString('latin1', data.length - 160))?.[1] ?? 0);
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
    for (const kind of kinds.values()) {
      kind.ages.reset();
      kind.events = kind.skipped = 0;
    }
  },
  report: (name: string) => {
    const { ages, faults, events, skipped } = kindOf(name);
    return { ...faults, events, skipped, ages: ages.summary() };
  },
};
export type ReadingClients = typeof methods;
answerCalls(methods);
