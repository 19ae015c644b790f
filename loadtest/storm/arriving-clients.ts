import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { answerCalls } from '../processes/process-call.ts';
import { ArrivingClient } from './arriving-client.ts';

/** The process of the clients that arrive at once. The storm scenario calls it. */

export interface StormPlan {
  readonly port: number;
  readonly sockets: number;
  /** Client i has the entry with index i modulo the length. */
  readonly arrivals: readonly { readonly path: string; readonly subscribe: string | undefined }[];
  /** Time after which clients that are not subscribed count as lost. */
  readonly timeoutMs: number;
}

export interface StormReport {
  readonly subscribed: number;
  /** Until half of them, and the last one, were subscribed. */
  readonly halfMs: number;
  readonly allMs: number;
  /** Connections that the server closed or never took, by code. */
  readonly closes: Readonly<Record<string, number>>;
  readonly clientCpuMs: number;
}

const clients: ArrivingClient[] = [];
const closes: Record<string, number> = {};
let subscribed = 0;
let [startedAt, halfMs, allMs] = [0, 0, 0];

// The steady clients share this core. With a lower priority this process does not add to their pauses.
setPriority(Math.min(19, getPriority() + 10));

const owner = {
  onSubscribed(): void {
    subscribed++;
    allMs = performance.now() - startedAt;
    if (subscribed * 2 === clients.length) halfMs = allMs;
  },
  onEvent: () => undefined,
  onClosed: (code: number) => void (closes[code] = (closes[code] ?? 0) + 1),
};

async function arrive({ port, sockets, arrivals, timeoutMs }: StormPlan): Promise<StormReport> {
  const cpu = process.cpuUsage();
  startedAt = performance.now();
  for (let i = 0; i < sockets; i++) {
    clients.push(new ArrivingClient({ port, ...arrivals[i % arrivals.length]! }, owner));
  }
  while (subscribedNow() < sockets && performance.now() - startedAt < timeoutMs) await delay(20);
  const { user, system } = process.cpuUsage(cpu);
  return { subscribed: subscribedNow(), halfMs, allMs, closes, clientCpuMs: (user + system) / 1000 };
}

/** Waits until each client has this number of events. Returns the counts of clients that have another one at the end, by their events. */
async function events({ count, timeoutMs }: { count: number; timeoutMs: number }): Promise<Record<string, number>> {
  const deadline = performance.now() + timeoutMs;
  while (clients.some((client) => client.events < count) && performance.now() < deadline) await delay(20);
  const others: Record<string, number> = {};
  for (const client of clients) if (client.events !== count) others[client.events] = (others[client.events] ?? 0) + 1;
  return others;
}

function subscribedNow(): number {
  return clients.reduce((sum, { isSubscribed }) => sum + Number(isSubscribed), 0);
}

answerCalls({ arrive, events });
