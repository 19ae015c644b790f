/**
 * Memory of a socket with one waiting subscription, and of each further one on the same socket: graphql-ws's `useServer` against crier.
 *
 *     npm run -s build:test && node dist/loadtest/deviations/waiting-operations.js
 */
import { resolve } from 'node:path';
import { WebSocket } from 'ws';
import { freePorts } from '../../stack/port.ts';
import { median } from '../median.ts';
import { CLIENT_CORE, pinThisProcess } from '../processes/pinning.ts';
import { startServerProcess } from '../processes/server-process.ts';

const ROUNDS = 3;
/** Sockets before the measured ones, so that one-time costs of the server do not count. */
const FIRST_SOCKETS = 1000;
const SOCKETS = 2000;
const FURTHER_OPERATIONS = 10;
const QUERY = 'subscription { catalogue_updated { auction_id } }';

const contenders = [
  { name: 'bare ws, no subscription', script: '../servers/bare-ws.js', operations: 0, environment: {} },
  { name: 'useServer as documented', script: '../servers/waiting-graphql-ws.js', operations: 1, environment: {} },
  {
    name: 'useServer, one document, no graphql-js',
    script: '../servers/waiting-graphql-ws.js',
    operations: 1,
    environment: { LEAN: '1' },
  },
  {
    name: 'crier',
    script: '../../src/main.js',
    operations: 1,
    environment: { SAMPLE_INTERVAL_MS: '3600000' },
  },
];
type Contender = (typeof contenders)[number];

/** Resolves when the server has answered a ping that follows the last message. */
function settled(socket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString()) as { type: string; payload?: unknown };
      if (type !== 'pong') throw new Error(`unexpected ${type}: ${JSON.stringify(payload)}`);
      socket.off('message', onMessage);
      resolve();
    };
    socket.on('message', onMessage);
    socket.send('{"type":"ping"}');
  });
}

async function subscribe(socket: WebSocket, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    socket.send(JSON.stringify({ id: crypto.randomUUID(), type: 'subscribe', payload: { query: QUERY } }));
  }
  await settled(socket);
}

async function open(port: number, operations: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  if (operations === 0) return socket;
  socket.send('{"type":"connection_init"}');
  await new Promise((resolve) => socket.once('message', resolve));
  await subscribe(socket, operations);
  return socket;
}

async function openMany(port: number, count: number, operations: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  for (let i = 0; i < count; i++) sockets.push(await open(port, operations));
  return sockets;
}

/** Bytes of a socket with one operation, and of each further operation. */
async function measure({ script, operations, environment }: Contender): Promise<{ socket: number; further: number }> {
  const [port, adminPort] = await freePorts(2);
  const path = resolve(import.meta.dirname, script);
  const server = await startServerProcess(path, port!, { ADMIN_PORT: String(adminPort), ...environment });
  try {
    const first = await openMany(port!, FIRST_SOCKETS, operations);
    const before = await server.keptBytes();
    const sockets = await openMany(port!, SOCKETS, operations);
    const opened = await server.keptBytes();
    if (operations > 0) for (const socket of sockets) await subscribe(socket, FURTHER_OPERATIONS);
    const after = await server.keptBytes();
    for (const socket of [...first, ...sockets]) socket.terminate();
    return { socket: (opened - before) / SOCKETS, further: (after - opened) / SOCKETS / FURTHER_OPERATIONS };
  } finally {
    await server.stop();
  }
}

pinThisProcess(CLIENT_CORE);
const rounds = new Map(contenders.map(({ name }) => [name, [] as { socket: number; further: number }[]]));
for (let round = 0; round < ROUNDS; round++) {
  for (const contender of contenders) rounds.get(contender.name)!.push(await measure(contender));
}
process.stdout.write(
  '| | bytes per socket, with one operation | bytes per further operation |\n| --- | ---: | ---: |\n',
);
for (const [name, figures] of rounds) {
  const cell = (key: 'socket' | 'further') => {
    const values = figures.map((figure) => figure[key]);
    return `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
  };
  process.stdout.write(`| ${name} | ${cell('socket')} | ${name.startsWith('bare') ? '–' : cell('further')} |\n`);
}
