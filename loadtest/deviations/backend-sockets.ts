/**
 * A burst of backend requests, as a burst of executions sends them, by the number of sockets that the pool may open. The backend
 * answers after 20 ms.
 *
 *     npm run -s build:test && node dist/loadtest/deviations/backend-sockets.js
 */
import { resolve } from 'node:path';
import { Backends } from '../../src/graph/context/backends.ts';
import { freePorts } from '../../stack/port.ts';
import { median } from '../median.ts';
import { CLIENT_CORE, SERVER_CORE, pinThisProcess } from '../processes/pinning.ts';
import { startServerProcess } from '../processes/server-process.ts';

const ANSWER_MS = 20;
const ROUNDS = 5;
const LIMITS = [16, 50, 200, 100_000];
const BURSTS = [50, 1000, 4000];

interface Burst {
  readonly p50Ms: number;
  readonly lastMs: number;
  readonly failed: number;
  readonly sockets: number;
  readonly cpuMs: number;
}

async function sendBurst(backends: Backends, count: number): Promise<Burst> {
  const sockets = new Set<unknown>();
  const waits: number[] = [];
  let failed = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  const send = async () => {
    try {
      sockets.add(await backends.send('slow', { method: 'GET', path: '/', callerHeader: () => undefined }));
      waits.push(performance.now() - start);
    } catch {
      failed++;
    }
  };
  await Promise.all(Array.from({ length: count }, send));
  const { user, system } = process.cpuUsage(before);
  const p50Ms = median(waits);
  return { p50Ms, lastMs: Math.max(...waits), failed, sockets: sockets.size, cpuMs: (user + system) / 1000 };
}

pinThisProcess(SERVER_CORE);
const [port] = await freePorts(1);
const script = resolve(import.meta.dirname, '../servers/slow-backend.js');
const server = await startServerProcess(script, port!, { ANSWER_MS: String(ANSWER_MS) }, [], CLIENT_CORE);
const config = { url: `http://127.0.0.1:${port}`, forwardedHeaders: [] };
process.stdout.write(
  '| burst | sockets allowed | used | p50 ms | last ms | failed | CPU ms | first burst, last ms |\n' +
    `|${' ---: |'.repeat(8)}\n`,
);
for (const count of BURSTS) {
  for (const maxSockets of LIMITS) {
    const backends = new Backends({
      backends: new Map([['SLOW', config]]),
      maxSockets: () => maxSockets,
      timeoutMs: 5000,
    });
    const first = await sendBurst(backends, count);
    const bursts: Burst[] = [];
    for (let round = 0; round < ROUNDS; round++) bursts.push(await sendBurst(backends, count));
    await backends.close();
    const cell = (key: keyof Burst) => median(bursts.map((burst) => burst[key])).toFixed(0);
    const limit = maxSockets === 100_000 ? 'any' : maxSockets;
    process.stdout.write(
      `| ${count} | ${limit} | ${cell('sockets')} | ${cell('p50Ms')} | ${cell('lastMs')} | ${cell('failed')} | ${cell('cpuMs')} | ${first.lastMs.toFixed(0)} |\n`,
    );
  }
}
await server.stop();
