import { getPriority, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { answerCalls } from '../processes/process-call.ts';
import { Receiver, openAll } from './receiver.ts';

/** The process of the clients that resume. bench:resume calls it. */

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
  readonly receiver: Receiver;
  cursor: string;
  /** Version of the last event. */
  last: number;
  isResumed: boolean;
  hasFault: boolean;
}

const clients: Client[] = [];
const faults = new Map<string, number>();
let deliveries = 0;
let lastAt = 0;
let awaited = Infinity;
let arrived = 0;

// The other clients share this core. With a lower priority this process does not add to their latencies.
setPriority(Math.min(19, getPriority() + 10));

function clientOf(plan: ResumePlan): Client {
  const fail = (fault: string) => {
    if (!client.hasFault) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    client.hasFault = true;
  };
  const receiver = new Receiver({
    port: plan.port,
    payload: () => ({
      query: plan.query,
      variables: plan.variables,
      extensions: { resume: { cursor: client.cursor } },
    }),
    onEvent: (received, message) => {
      deliveries++;
      lastAt = performance.now();
      if (!client.isResumed && !message.includes('"resumed":true')) fail('not resumed');
      if (received !== client.last + 1) fail('an event was lost, duplicated or reordered');
      client.isResumed = true;
      client.last = received;
      if (received === awaited) arrived++;
    },
    onFault: fail,
  });
  const client: Client = { receiver, cursor: '', last: 0, isResumed: false, hasFault: false };
  return client;
}

async function connect(plan: ResumePlan): Promise<void> {
  for (let i = 0; i < plan.sockets; i++) clients.push(clientOf(plan));
  await openAll(clients.map(({ receiver }) => receiver));
}

async function resume({ lastSeen, lastVersion }: Storm): Promise<ResumeReport> {
  awaited = lastVersion;
  deliveries = 0;
  clients.forEach((client, i) => {
    const { version, cursor } = lastSeen[i % lastSeen.length]!;
    Object.assign(client, { cursor, last: version, isResumed: false });
  });
  const startedAt = performance.now();
  for (const { receiver } of clients) receiver.subscribe();
  return arrival(startedAt);
}

/** Resolves when every client has received this live event. */
async function follow(lastVersion: number): Promise<ResumeReport> {
  awaited = lastVersion;
  arrived = clients.filter(({ last }) => last === lastVersion).length;
  return arrival(performance.now());
}

/** Ends all subscriptions. */
function complete(): void {
  for (const { receiver } of clients) receiver.complete();
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

answerCalls({ connect, resume, follow, complete });
