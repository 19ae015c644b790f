import { setPriority } from 'node:os';
import { WebSocket } from 'ws';
import { answerCalls } from '../processes/process-call.ts';
import { attacks } from './attack.ts';
import type { Attack } from './attack.ts';

/** The answers of the attacked server. */
export interface AttackAnswers {
  readonly sent: number;
  /** `error` messages, by the code of the first error. */
  readonly errors: Readonly<Record<string, number>>;
  /** Closes by the server, by code. */
  readonly closes: Readonly<Record<string, number>>;
}

/** Nice value, higher than that of the measuring processes on the same core. */
const NICENESS = 10;
const REPEAT_INTERVAL_MS = 1000;

const errors: Record<string, number> = {};
const closes: Record<string, number> = {};
let sent = 0;
let sockets: WebSocket[] = [];
let timers: NodeJS.Timeout[] = [];
let isLeaving = false;

setPriority(NICENESS);

answerCalls({
  /** Connects all sockets without attacking. */
  connect: async ({ name, port }: { name: string; port: number }) => {
    const attack = attackOf(name);
    for (let socket = 0; socket < attack.sockets; socket++) sockets.push(await open(port));
  },
  attack: ({ name }: { name: string }) => {
    const attack = attackOf(name);
    sockets.forEach((socket, index) => sendAttack(attack, socket, index));
  },
  answers: (): AttackAnswers => ({ sent, errors, closes }),
  leave: () => {
    isLeaving = true;
    for (const timer of timers) clearInterval(timer);
    for (const socket of sockets) socket.terminate();
    timers = [];
    sockets = [];
  },
});

// Keeps the process alive for the calls.
process.channel?.ref();

function attackOf(name: string): Attack {
  return attacks.find((attack) => attack.name === name)!;
}

function sendAttack(attack: Attack, socket: WebSocket, index: number): void {
  const send = (round: number): void => {
    for (const message of attack.messages(index, round)) {
      socket.send(JSON.stringify(message));
      sent++;
    }
  };
  send(0);
  if (!attack.isRepeated) return;
  let round = 0;
  timers.push(setInterval(() => socket.readyState === WebSocket.OPEN && send(++round), REPEAT_INTERVAL_MS));
}

/** Resolves when the connection is acknowledged. */
function open(port: number): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
    });
    socket.once('error', reject);
    socket.once('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.includes('"connection_ack"')) return resolve(socket);
      if (!text.includes('"type":"error"')) return;
      const { payload } = JSON.parse(text) as { payload: { extensions?: { code?: string } }[] };
      count(errors, payload[0]?.extensions?.code ?? 'none');
    });
    socket.on('close', (code) => {
      if (!isLeaving) count(closes, String(code));
    });
  });
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
