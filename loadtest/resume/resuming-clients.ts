import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { openMany, subscribe } from '../clients/graphql-socket.ts';
import { answerCalls } from '../processes/process-call.ts';
import { openReceiver } from './receiver.ts';

/** The process of the clients that resume. */

export interface ResumePlan {
  readonly port: number;
  readonly sockets: number;
  readonly query: string;
  readonly variables: object;
}

export interface Storm {
  /** Last event before the resume: client i gets the entry with index i modulo the length. */
  readonly lastSeen: readonly { readonly version: number; readonly cursor: string }[];
  readonly lastVersion: number;
}

export interface ResumeReport {
  /** Until the last client received the last event. */
  readonly elapsedMs: number;
  readonly deliveries: number;
  /** Each starts with the number of affected clients. */
  readonly faults: readonly string[];
}

/** After this time without a delivery, missing events count as lost. */
const SILENCE_MS = 10_000;

interface Client {
  socket?: WebSocket;
  /** Id of its subscription. */
  id: string;
  /** Version of the last event. */
  last: number;
  isResumed: boolean;
  hasFault: boolean;
}

let plan: ResumePlan;
const clients: Client[] = [];
const faults = new Map<string, number>();
let deliveries = 0;
let lastAt = 0;
let awaited = Infinity;
let arrived = 0;

// The other clients share this core. With a lower priority this process does not add to their latencies.
setPriority(Math.min(19, getPriority() + 10));

async function open(): Promise<void> {
  const client: Client = { id: '', last: 0, isResumed: false, hasFault: false };
  clients.push(client);
  const fail = (fault: string) => {
    if (!client.hasFault) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    client.hasFault = true;
  };
  const onEvent = (received: number, message: Buffer) => {
    deliveries++;
    lastAt = performance.now();
    if (!client.isResumed && !message.includes('"resumed":true')) fail('not resumed');
    if (received !== client.last + 1) fail('an event was lost, duplicated or reordered');
    client.isResumed = true;
    client.last = received;
    if (received === awaited) arrived++;
  };
  client.socket = await openReceiver(plan.port, onEvent, fail);
}

async function connect(wanted: ResumePlan): Promise<void> {
  plan = wanted;
  await openMany(plan.sockets, open);
}

async function resume({ lastSeen, lastVersion }: Storm): Promise<ResumeReport> {
  awaited = lastVersion;
  deliveries = 0;
  const startedAt = performance.now();
  for (const [i, client] of clients.entries()) {
    const { version, cursor } = lastSeen[i % lastSeen.length]!;
    const { query, variables } = plan;
    const id = subscribe(client.socket!, { query, variables, extensions: { resume: { cursor } } });
    Object.assign(client, { id, last: version, isResumed: false });
  }
  return arrival(startedAt);
}

/** Resolves when every client has received this live event. */
async function follow(lastVersion: number): Promise<ResumeReport> {
  awaited = lastVersion;
  arrived = clients.filter(({ last }) => last === lastVersion).length;
  return arrival(performance.now());
}

/** Ends all subscriptions; the connections stay. */
function complete(): void {
  for (const { socket, id } of clients) socket!.send(JSON.stringify({ id, type: 'complete' }));
}

async function arrival(startedAt: number): Promise<ResumeReport> {
  lastAt = performance.now();
  while (arrived < clients.length && performance.now() - lastAt < SILENCE_MS) await delay(20);
  const missing = clients.length - arrived;
  arrived = 0;
  const lines = Array.from(faults, ([fault, count]) => `${count} clients: ${fault}`);
  if (missing > 0) lines.push(`${missing} clients: did not receive the last event`);
  return { elapsedMs: lastAt - startedAt, deliveries, faults: lines };
}

const methods = { connect, resume, follow, complete };
export type ResumingClients = typeof methods;
answerCalls(methods);
