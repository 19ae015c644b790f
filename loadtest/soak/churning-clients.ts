import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { answerCalls } from '../processes/process-call.ts';

/** The process of the clients that come and go. */

export interface ChurnPlan {
  readonly port: number;
  readonly clients: number;
  readonly query: string;
  /** Clients subscribe to auctions 1 to this. */
  readonly auctions: number;
  /** Longest life of a connection, in ms. */
  readonly maxLifeMs: number;
}

/** Since the start. */
export type ChurnReport = ReturnType<typeof report>;

/** What a connection does at the end of its life. */
const ENDS = ['close', 'terminate', 'resubscribe', 'stop reading'] as const;
/** Of 100 connections, the number that end by the last of `ENDS`, until the server closes them or for 30 s. */
const STALLED_PERCENT = 1;
const STALLED_MS = 30_000;
const MAX_FAULTS = 20;
/** Pause after a refusal, in ms; each further one of the same client doubles it, up to eight times. */
const BACKOFF_MS = 1000;

/** `shed`: closed with 1013 before a message: admission. `failed`: closed before the acknowledgement with another code. */
const counts = { opened: 0, messages: 0, shed: 0, failed: 0 };
/** Closed by the server, by code, without the shed. */
const closed: Record<number, number> = {};
/** First messages that are neither an acknowledgement nor an event. */
const faults: string[] = [];
const running: Promise<void>[] = [];
const sockets = new Set<WebSocket>();
let stopping = new AbortController();

/** Resolves after the time, or when the clients are stopped. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Connects, subscribes, reads for a while, ends in one of several ways, and does it again. */
async function churn(plan: ChurnPlan): Promise<void> {
  let refusals = 0;
  const { signal } = stopping;
  await pause(randomInt(10_000), signal);
  while (!signal.aborted) {
    const isServed = await live(plan, signal);
    refusals = isServed ? 0 : Math.min(refusals + 1, 3);
    if (!isServed) await pause(randomInt(BACKOFF_MS * 2 ** refusals), signal);
  }
}

/** One connection. Resolves with false if it was refused. */
async function live(plan: ChurnPlan, signal: AbortSignal): Promise<boolean> {
  const socket = new WebSocket(`ws://127.0.0.1:${plan.port}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  sockets.add(socket);
  let isServed = false;
  let isOurs = false;
  const ended = new Promise<void>((resolve) => {
    socket.once('error', () => undefined);
    socket.once('close', (code) => {
      sockets.delete(socket);
      if (code === 1013 && !isServed) counts.shed++;
      else if (!isOurs && !signal.aborted) {
        if (isServed) closed[code] = (closed[code] ?? 0) + 1;
        else counts.failed++;
      }
      resolve();
    });
  });
  socket.once('open', () => {
    counts.opened++;
    socket.send('{"type":"connection_init"}');
  });
  socket.on('message', (data: Buffer) => {
    const head = data.toString('latin1', 0, 80);
    if (head.includes('"connection_ack"')) {
      isServed = true;
      subscribe(socket, plan);
    } else if (head.includes('"next"')) counts.messages++;
    else if (faults.length < MAX_FAULTS) faults.push(data.toString('utf8', 0, 300));
  });
  await Promise.race([ended, delay(randomInt(1000, plan.maxLifeMs))]);
  if (socket.readyState === WebSocket.OPEN) {
    isOurs = true;
    await end(socket, plan, ended);
  }
  await ended;
  return isServed;
}

function subscribe(socket: WebSocket, { query, auctions }: ChurnPlan): string {
  const id = crypto.randomUUID();
  const variables = { auction_id: 1 + randomInt(auctions) };
  socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }));
  return id;
}

async function end(socket: WebSocket, plan: ChurnPlan, ended: Promise<void>): Promise<void> {
  const way = randomInt(100) < STALLED_PERCENT ? 'stop reading' : ENDS[randomInt(ENDS.length - 1)]!;
  if (way === 'close') return socket.close(1000);
  if (way === 'resubscribe') {
    const id = subscribe(socket, plan);
    socket.send(JSON.stringify({ id, type: 'complete' }));
    return socket.close(1000);
  }
  if (way === 'stop reading') {
    socket.pause();
    await Promise.race([ended, delay(STALLED_MS)]);
  }
  socket.terminate();
}

function start(plan: ChurnPlan): void {
  stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  for (let i = 0; i < plan.clients; i++) running.push(churn(plan));
}

function report() {
  return { ...counts, closed, faults };
}

/** Ends all connections. Resolves when they are closed. */
async function leave(): Promise<ChurnReport> {
  stopping.abort();
  for (const socket of sockets) socket.terminate();
  await Promise.race([Promise.all(running.splice(0)), delay(STALLED_MS)]);
  return report();
}

const methods = { start, report, leave };
export type ChurningClients = typeof methods;
answerCalls(methods);
