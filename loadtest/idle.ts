import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import { freePorts } from '../stack/port.ts';
import { median } from './median.ts';
import { cpuMs } from './processes/process-usage.ts';
import { startServerProcess } from './processes/server-process.ts';

const USAGE = `Resident memory per idle socket, and CPU to open it: crier with one live subscription on each, against bare \`ws\`.

Usage: npm run bench:idle -- [--sockets 4000] [--rounds 3] [--limit 1.4] [--base <folder>] [--token]

  --base <folder>  another checkout of crier, built: measured in the same run
  --query <text>   the subscription; default: one field of catalogue_updated
  --token          each connection to crier has a JSON Web Token of 800 bytes and of its own user

Exits with 1 when crier takes more than --limit times what bare ws takes.
`;

/** Sockets before the measured ones, so that one-time costs of the server (code, caches, free pages) do not count. */
const FIRST_SOCKETS = 1000;
/** Concurrent handshakes. */
const BATCH = 100;

/** The default subscription. Its nullable argument is omitted, so all sockets share a channel. */
const SUBSCRIPTION = 'subscription { catalogue_updated { auction_id } }';

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    limit: { type: 'string', default: '1.4' },
    base: { type: 'string' },
    query: { type: 'string', default: SUBSCRIPTION },
    token: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});

const SECRET = 'a secret of this benchmark only, 32 bytes';
/** Makes a token 800 bytes long. */
const FILLING = 'x'.repeat(426);

interface SocketCost {
  /** Resident bytes that a socket adds, after a collection. */
  readonly bytes: number;
  /** CPU of the server to open it, in µs: the handshake and, for crier, `connection_init` and `subscribe`. */
  readonly openUs: number;
}

interface Round {
  readonly bare: SocketCost;
  readonly crier: SocketCost;
  readonly base?: SocketCost;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const count = Number(values.sockets);
  const rounds: Round[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    const bare = await measure('servers/bare-ws.js', count, false);
    const crier = await measure('../src/main.js', count, true);
    const base =
      values.base === undefined ? undefined : await measure(resolve(values.base, 'dist/src/main.js'), count, true);
    rounds.push({ bare, crier, ...(base !== undefined && { base }) });
    const ofBase = base && `, base ${text(base)}, against it ${(crier.bytes / base.bytes).toFixed(2)}`;
    process.stdout.write(
      `round ${round}: bare ws ${text(bare)}, crier ${text(crier)}, ratio ${(crier.bytes / bare.bytes).toFixed(2)}${ofBase ?? ''}\n`,
    );
  }
  const ratio = median(rounds.map(({ bare, crier }) => crier.bytes / bare.bytes));
  const openUs = median(rounds.map(({ crier }) => crier.openUs));
  const result = {
    what: 'RSS in bytes per idle socket, and CPU of the server in µs to open it; crier with one live subscription per socket',
    sockets: count,
    rounds,
    medianRatio: ratio,
    medianOpenUs: openUs,
    ...(values.base !== undefined && {
      medianRatioToBase: median(rounds.map(({ crier, base }) => crier.bytes / base!.bytes)),
      medianOpenRatioToBase: median(rounds.map(({ crier, base }) => crier.openUs / base!.openUs)),
    }),
    conditions: { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, date: new Date().toISOString() },
  };
  await mkdir('loadtest/results', { recursive: true });
  await writeFile('loadtest/results/idle.json', `${JSON.stringify(result, null, 2)}\n`);
  process.stdout.write(
    `median ratio ${ratio.toFixed(2)} (limit ${values.limit}); CPU to open a socket ${openUs.toFixed(0)} µs; loadtest/results/idle.json\n`,
  );
  if (ratio > Number(values.limit)) process.exitCode = 1;
}

/** Cost of a socket: the server's growth by `count` sockets, read after garbage collections, and its CPU while they open. */
async function measure(script: string, count: number, isSubscribing: boolean): Promise<SocketCost> {
  const [port, adminPort] = await freePorts(2);
  const path = resolve(import.meta.dirname, script);
  const server = await startServerProcess(path, port!, {
    ADMIN_PORT: String(adminPort),
    SAMPLE_INTERVAL_MS: '3600000',
    ...(values.token && { JWT_SECRET: SECRET }),
  });
  try {
    const first = await openMany(port!, FIRST_SOCKETS, isSubscribing);
    const before = await server.keptBytes();
    const cpuBefore = cpuMs(server.pid);
    const sockets = first.concat(await openMany(port!, count, isSubscribing));
    const openUs = ((cpuMs(server.pid) - cpuBefore) * 1000) / count;
    const after = await server.keptBytes();
    for (const socket of sockets) socket.terminate();
    return { bytes: (after - before) / count, openUs };
  } finally {
    await server.stop();
  }
}

async function openMany(port: number, count: number, isSubscribing: boolean): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(BATCH, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => open(port, isSubscribing)))));
  }
  return sockets;
}

let tokens = 0;

async function initMessage(): Promise<string> {
  if (!values.token) return '{"type":"connection_init"}';
  const claims = {
    iss: 'https://login.example.com/',
    sub: `user-${tokens++}`,
    scope: 'read:auctions',
    filling: FILLING,
  };
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setIssuedAt().setExpirationTime('1h');
  const token = await jwt.sign(new TextEncoder().encode(SECRET));
  return JSON.stringify({ type: 'connection_init', payload: { token } });
}

/** Opens a connection. With a subscription, waits for the pong after the subscribe message. */
async function open(port: number, isSubscribing: boolean): Promise<WebSocket> {
  const init = await initMessage();
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
    });
    socket.once('error', reject);
    socket.once('open', () => {
      if (!isSubscribing) return resolve(socket);
      socket.send(init);
    });
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; payload?: unknown };
      if (message.type === 'connection_ack') {
        socket.send(JSON.stringify({ id: crypto.randomUUID(), type: 'subscribe', payload: { query: values.query } }));
        socket.send('{"type":"ping"}');
      }
      if (message.type === 'pong') resolve(socket);
      if (message.type === 'error')
        reject(new Error(`the subscription was refused: ${JSON.stringify(message.payload)}`));
    });
  });
}

function text({ bytes, openUs }: SocketCost): string {
  return `${(bytes / 1024).toFixed(1)} KB and ${openUs.toFixed(0)} µs`;
}

await main();
