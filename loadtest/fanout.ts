import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { installKafka, startKafkaBroker } from '../stack/kafka-broker.ts';
import { LONG_LIVED } from '../stack/kafka-node.ts';
import { startRedisCluster } from '../stack/redis-cluster.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { variables } from '../src/config/variables.ts';
import { runCommand } from './command.ts';
import { CONTENDER_REDIS_KINDS, baseName, baseOf, contenders, isCrier, onCluster } from './fanout/contenders.ts';
import type { Contender, ContenderRedisKind } from './fanout/contenders.ts';
import { prepareBroker } from './fanout/broker.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { memoryRows, memoryTable } from './fanout/memory.ts';
import { baseTable, fanoutTable } from './fanout/report.ts';
import { writeResults } from './fanout/results.ts';
import { runRounds } from './fanout/rounds.ts';
import type { Plan } from './fanout/rounds.ts';
import { PROFILES, profileServers, stageTable } from './fanout/server-profile.ts';
import type { ServerProfile } from './fanout/server-profile.ts';
import { stalledRows, stalledTable } from './fanout/stalled.ts';
import { cpuUsOf, faultsOf, summarize } from './fanout/summary.ts';
import type { Load, Sample } from './fanout/trial.ts';
import { hasSmallBuffers, runWithSmallBuffers, smallBufferCommand } from './processes/network-namespace.ts';
import { numberFlag } from './number-flag.ts';
import { installPackages } from './packages.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { textTable } from './table.ts';

const USAGE = `One hot auction, thousands of sockets: crier against a plain broadcast and against other GraphQL servers.

Usage: npm run bench:fanout -- [flags]

  --servers <names>   of ${contenders.map(({ name }) => name).join(', ')}; default: the first six
  --base <folder>     another checkout of crier, built: each of crier's servers is compared with that of its build
  --redis <one|cluster|one,cluster>  one server, or a Redis Cluster of three shards, or crier's servers on both in the
                      same rounds, by turns; default: one
  --k <numbers>       events in flight; default: 1,4,16
  --rate <numbers>    with --auctions each: events a second, each for one socket, instead of events in flight
  --sockets <numbers> default: 4000
  --stalled <numbers> sockets that stop reading, until the server has closed them; default: 0
  --auctions <one|each>  all sockets on one auction, or each on its own; default: one
  --rounds <number>   default: 3
  --seconds <number>  least duration of a window; default: 2
  --turns <number>    windows of each server in a round, each compared as a round; default: 1
  --flame-graph       profiles one more window of each server, after the measured ones; for speedscope: loadtest/profiles
  --out <name>        loadtest/results/<name>.json, .md and .svg; default: fanout
  --help

Exits with 1 when a message was lost or an unexpected one arrived.
`;

const BUFFERS_WARNING =
  'no network namespace with small socket buffers (this needs unshare and ip, and root or user namespaces): the kernel buffers ' +
  'megabytes for each stalled socket before crier does, and a window takes minutes';

/** The limit that the servers inherit. */
const MAX_QUEUE_BYTES = Number(process.env['MAX_QUEUE_BYTES'] ?? variables.MAX_QUEUE_BYTES.default);

const START_REDIS = {
  one: () => startRedisServer(),
  // Replicas would take CPU from the client's core.
  cluster: () => startRedisCluster({ replicas: 0 }),
};

const { values } = parseArgs({
  options: {
    servers: {
      type: 'string',
      default: contenders
        .filter(({ isExtra }) => !isExtra)
        .map(({ name }) => name)
        .join(','),
    },
    base: { type: 'string' },
    redis: { type: 'string', default: 'one' },
    k: { type: 'string', default: '1,4,16' },
    rate: { type: 'string' },
    sockets: { type: 'string', default: '4000' },
    stalled: { type: 'string', default: '0' },
    auctions: { type: 'string', default: 'one' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    turns: { type: 'string', default: '1' },
    'flame-graph': { type: 'boolean', default: false },
    out: { type: 'string', default: 'fanout' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<number | void> {
  if (values.help) return void process.stdout.write(USAGE);
  const kinds = redisKinds();
  const entrants = values.servers.split(',').map(contenderOf).map(onRedis(kinds)).flatMap(withBase);
  const isFedByKafka = entrants.flat().some((contender) => contender.isFedByKafka);
  const hasStalled = numbers('stalled').some((sockets) => sockets > 0);
  if (entrants.flat().some(({ name }) => name === 'mercurius')) installPackages('servers', progress);
  if (isFedByKafka) await installKafka();
  if (hasStalled && !hasSmallBuffers) {
    const command = smallBufferCommand(process.argv);
    if (command) return runWithSmallBuffers(command, signal);
    progress(BUFFERS_WARNING);
  }
  // Missing pongs would end a stalled socket before its queue is full.
  if (hasStalled) process.env['PING_INTERVAL_MS'] ??= '0';
  pinThisProcess(CLIENT_CORE);
  const redis = await Promise.all(kinds.map((kind) => START_REDIS[kind]()));
  const redisUrls = Object.fromEntries(kinds.map((kind, i) => [kind, redis[i]!.url]));
  const kafka = isFedByKafka ? await startKafkaBroker({ javaFlags: LONG_LIVED }) : undefined;
  try {
    if (kafka) {
      progress('warms up the broker');
      await prepareBroker(kafka.address);
    }
    const plan = planOf(entrants, redisUrls, kafka?.address ?? '', signal);
    const rounds = await runRounds(plan);
    const profiles = values['flame-graph'] ? await profileServers(plan, values.out) : [];
    await publishResults(rounds, profiles);
  } finally {
    await kafka?.stop();
    await Promise.all(redis.map((one) => one.stop()));
    process.stderr.write('\n');
  }
}

function planOf(
  entrants: Plan['entrants'],
  redisUrls: Plan['redisUrls'],
  kafkaBrokers: string,
  signal: AbortSignal,
): Plan {
  return {
    entrants,
    redisUrls,
    kafkaBrokers,
    sockets: numbers('sockets'),
    stalled: numbers('stalled'),
    loads: loads(),
    isForAll: values.auctions === 'one',
    rounds: numberFlag('rounds', values.rounds),
    turns: numberFlag('turns', values.turns),
    seconds: seconds(),
    signal,
    onProgress: progress,
  };
}

async function publishResults(
  rounds: readonly (readonly Sample[])[],
  profiles: readonly ServerProfile[],
): Promise<void> {
  const rows = summarize(rounds);
  const faults = rounds.flat().flatMap(faultsOf);
  const stalled = stalledRows(rounds, MAX_QUEUE_BYTES);
  const memory = memoryRows(rounds);
  const conditions = {
    ...conditionsOf(),
    ...(stalled.length > 0 && {
      MAX_QUEUE_BYTES,
      'socket buffers': hasSmallBuffers ? 'do not grow' : "the kernel's own",
    }),
    flags: flagText(),
  };
  const paths = await writeResults(values.out, { conditions, rows, faults, stalled, memory, profiles });
  const tables = [fanoutTable(rows)];
  const base = baseTable(rows);
  if (base.length > 1) tables.push(base);
  if (stalled.length > 0) tables.push(stalledTable(stalled));
  if (memory.length > 0) tables.push(memoryTable(memory));
  if (profiles.length > 0) tables.push(stageTable(profiles, (profile) => cpuUsOf(profile, rows)));
  paths.push(...profiles.map(({ contender }) => `${PROFILES}/${values.out}-${contender}.svg`));
  process.stdout.write(`\n${tables.map(textTable).join('\n')}${paths.join(' ')}\n`);
  for (const fault of faults) process.stderr.write(`fanout: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

function flagText(): string {
  return Object.entries(values)
    .map(([name, value]) => `--${name} ${name === 'base' ? basename(String(value)) : value}`)
    .join(' ');
}

function contenderOf(name: string): Contender {
  const found = contenders.find((contender) => contender.name === name);
  if (!found) throw new Error(`--servers: expected ${contenders.map((c) => c.name).join(', ')}, got "${name}"`);
  return found;
}

function redisKinds(): ContenderRedisKind[] {
  const kinds = CONTENDER_REDIS_KINDS.filter((kind) => values.redis.split(',').includes(kind));
  if (kinds.join(',') !== values.redis) {
    throw new Error(`--redis: expected one, cluster or one,cluster, got "${values.redis}"`);
  }
  if (kinds.length > 1 && values.base !== undefined) throw new Error('--base: cannot be combined with two of --redis');
  return kinds;
}

/** With both kinds, the base of a server on a cluster is the same server on one Redis server. */
function onRedis(kinds: readonly ContenderRedisKind[]): (contender: Contender) => Contender {
  return (contender) => {
    if (!kinds.includes('cluster')) return contender;
    return { ...onCluster(contender), base: kinds.length > 1 ? contender.name : undefined };
  };
}

/** A contender and its base, if it has one. They take turns unless they are fed by Kafka: both would consume each record. */
function withBase(contender: Contender): Contender[][] {
  const base = baseFor(contender);
  if (!base) return [[contender]];
  return contender.isFedByKafka ? [[contender], [base]] : [[contender, base]];
}

function baseFor(contender: Contender): Contender | undefined {
  if (contender.base !== undefined) return { ...contenderOf(contender.base), name: baseName(contender.name) };
  if (values.base === undefined || !isCrier(contender)) return undefined;
  const base = baseOf(contender, values.base);
  if (!existsSync(base.script)) throw new Error(`--base: ${base.script} is missing; run npm ci && npm run build there`);
  return base;
}

function loads(): Load[] {
  const { rate } = values;
  if (rate === undefined) return numbers('k').map((outstanding) => ({ outstanding }));
  if (values.auctions !== 'each') throw new Error('--rate: its events are for one socket each; add --auctions each');
  return rate.split(',').map((text) => ({ outstanding: 0, rate: wholeNumber('rate', text) }));
}

function numbers(flag: 'k' | 'sockets' | 'stalled'): number[] {
  return values[flag].split(',').map((text) => wholeNumber(flag, text));
}

function seconds(): number {
  if (!/^\d+(\.\d+)?$/.test(values.seconds)) {
    throw new Error(`--seconds: expected a number of seconds, got "${values.seconds}"`);
  }
  return Number(values.seconds);
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${flag}: expected a whole number, got "${text}"`);
  return Number(text);
}

function progress(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
}

runCommand('fanout', main);
