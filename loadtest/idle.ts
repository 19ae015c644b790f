import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePorts } from '../stack/port.ts';
import { SECRET, openMany } from './idle/idle-sockets.ts';
import { measureSteps } from './idle/steps.ts';
import { cpuMs } from './processes/process-usage.ts';
import { writeResult } from './result-files.ts';
import { spreadOf, spreadsOf } from './spread.ts';
import { startServerProcess } from './processes/server-process.ts';

const USAGE = `Resident memory per idle socket, and CPU to open it: crier with one live subscription on each, against bare \`ws\`.

Usage: npm run bench:idle -- [--sockets 4000] [--rounds 3] [--limit 1.4] [--base <folder>] [--token] [--compressed]
       npm run bench:idle -- --steps 6000,12000,18000 [--token] [--compressed]

  --steps <counts> crier alone, with these numbers of sockets: its memory by their slope, where it goes, and 100,000 sockets by projection

  --base <folder>  another checkout of crier, built: measured in the same run
  --query <text>   the subscription; default: one field of catalogue_updated
  --compressed     clients offer permessage-deflate, and COMPRESSION is on
  --token          each connection to crier has a JSON Web Token of 800 bytes and of its own user

Exits with 1 when crier takes more than --limit times what bare ws takes.
`;

/** Sockets before the measured ones, so that one-time costs of the server (code, caches, free pages) do not count. */
const FIRST_SOCKETS = 1000;
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
    compressed: { type: 'boolean', default: false },
    steps: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

/** Settings of crier. */
const SERVER = {
  SAMPLE_INTERVAL_MS: '3600000',
  ...(values.token && { JWT_SECRET: SECRET }),
  ...(values.compressed && { COMPRESSION: 'on' }),
};

const socketOptions = (port: number) => ({
  port,
  query: values.query,
  hasToken: values.token,
  isCompressed: values.compressed,
});

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
  if (values.steps !== undefined) {
    const name = values.compressed ? 'idle-steps-compressed' : 'idle-steps';
    return measureSteps(values.steps.split(',').map(Number), SERVER, socketOptions, name);
  }
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
  const costs = (of: (round: Round) => SocketCost) =>
    spreadsOf(rounds, { bytes: (round) => of(round).bytes, openUs: (round) => of(round).openUs });
  const [bare, crier] = [costs((round) => round.bare), costs((round) => round.crier)];
  const ratio = spreadOf(rounds.map((round) => round.crier.bytes / round.bare.bytes));
  const result = {
    what: 'RSS in bytes per idle socket, and CPU of the server in µs to open it; crier with one live subscription per socket',
    sockets: count,
    rounds: rounds.length,
    bare,
    crier,
    ratio,
    ...(values.base !== undefined && {
      base: costs((round) => round.base!),
      ratioToBase: spreadOf(rounds.map((round) => round.crier.bytes / round.base!.bytes)),
      openRatioToBase: spreadOf(rounds.map((round) => round.crier.openUs / round.base!.openUs)),
    }),
    conditions: { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length, date: new Date().toISOString() },
  };
  const paths = await writeResult('idle', result, {});
  process.stdout.write(
    `median ratio ${ratio.median.toFixed(2)} (limit ${values.limit}); CPU to open a socket ${crier.openUs.median.toFixed(0)} µs; ${paths.join(' ')}\n`,
  );
  if (ratio.median > Number(values.limit)) process.exitCode = 1;
}

/** Cost of a socket: the server's growth by `count` sockets, read after garbage collections, and its CPU while they open. */
async function measure(script: string, count: number, isSubscribing: boolean): Promise<SocketCost> {
  const [port, adminPort] = await freePorts(2);
  const path = resolve(import.meta.dirname, script);
  const server = await startServerProcess(path, port!, {
    ADMIN_PORT: String(adminPort),
    ...SERVER,
  });
  try {
    const options = { ...socketOptions(port!), ...(!isSubscribing && { query: undefined }) };
    const first = await openMany(FIRST_SOCKETS, options);
    const before = await server.keptBytes();
    const cpuBefore = cpuMs(server.pid);
    const sockets = first.concat(await openMany(count, options));
    const openUs = ((cpuMs(server.pid) - cpuBefore) * 1000) / count;
    const after = await server.keptBytes();
    for (const socket of sockets) socket.terminate();
    return { bytes: (after - before) / count, openUs };
  } finally {
    await server.stop();
  }
}

function text({ bytes, openUs }: SocketCost): string {
  return `${(bytes / 1024).toFixed(1)} KB and ${openUs.toFixed(0)} µs`;
}

await main();
