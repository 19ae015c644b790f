import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { LONG_LIVED } from '../stack/kafka-node.ts';
import { startRedisCluster } from '../stack/redis-cluster.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { variables } from '../src/config/variables.ts';
import { prepareBroker } from './fanout/broker.ts';
import { baseName, baseOf, contenders, isCrier, onCluster } from './fanout/contenders.ts';
import type { Contender, ContenderRedisKind } from './fanout/contenders.ts';
import { fanoutReport } from './fanout/report.ts';
import { runRounds } from './fanout/rounds.ts';
import { PROFILES, profileServers } from './fanout/server-profile.ts';
import { installPackages } from './packages.ts';
import { hasSmallBuffers, runWithSmallBuffers, smallBufferCommand } from './processes/network-namespace.ts';
import { base, choice, choices, decimal, on, optional, whole, wholes } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';

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

const names = contenders.map(({ name }) => name);
const usual = contenders.filter(({ isExtra }) => !isExtra).map(({ name }) => name);

export const scenario = defineScenario({
  name: 'fanout',
  question: 'One hot auction, thousands of sockets: crier against a plain broadcast and against other GraphQL servers.',
  flags: {
    servers: choices('servers, of', names, usual),
    base: base('each of crier’s servers is compared with that of its build'),
    redis: choice(
      'one server, a Redis Cluster of three shards, or crier’s servers on both by turns',
      ['one', 'cluster', 'one,cluster'] as const,
      'one',
    ),
    k: wholes('events in flight', '1,4,16'),
    rate: optional(
      wholes('with --auctions each: events a second, each for one socket, instead of events in flight', ''),
    ),
    sockets: wholes('numbers of sockets', '4000'),
    stalled: wholes('sockets that stop reading, until the server has closed them', '0'),
    auctions: choice('all sockets on one auction, or each on its own', ['one', 'each'] as const, 'one'),
    rounds: whole('rounds', 3),
    seconds: decimal('least duration of a window', 2),
    turns: whole('windows of each server in a round, each compared as a round', 1),
    'flame-graph': on(`profiles one more window of each server, after the measured ones; for speedscope: ${PROFILES}`),
  },
  packages: ['ws', 'graphql', 'graphql-ws', 'graphql-redis-subscriptions', 'mercurius'],
  notes: 'Exits with 1 when a message was lost or an unexpected one arrived.',
  run: async ({ flags, signal, scope, say, name }) => {
    const kinds = flags.redis.split(',') as ContenderRedisKind[];
    if (kinds.length > 1 && flags.base !== undefined) throw new Error('--base: cannot be combined with two of --redis');
    if (flags.rate && flags.auctions !== 'each')
      throw new Error('--rate: its events are for one socket each; add --auctions each');
    const entrants = flags.servers
      .map(contenderOf)
      .map(onRedis(kinds))
      .flatMap((one) => withBase(one, flags.base));
    const hasStalled = flags.stalled.some((sockets) => sockets > 0);
    if (entrants.flat().some((one) => one.name === 'mercurius')) installPackages('servers', say);
    if (hasStalled && !hasSmallBuffers) {
      const command = smallBufferCommand(process.argv);
      if (command) return void (process.exitCode = await runWithSmallBuffers(command, signal));
      say(BUFFERS_WARNING);
    }
    // Missing pongs would end a stalled socket before its queue is full.
    if (hasStalled) process.env['PING_INTERVAL_MS'] ??= '0';
    const redis = await Promise.all(
      kinds.map(async (kind) => [kind, scope.own(await START_REDIS[kind]()).url] as const),
    );
    const isFedByKafka = entrants.flat().some((one) => one.isFedByKafka);
    const kafka = isFedByKafka ? scope.own(await startKafkaBroker({ javaFlags: LONG_LIVED })) : undefined;
    if (kafka) {
      say('warms up the broker');
      await prepareBroker(kafka.address);
    }
    const { sockets, stalled, rounds, turns, seconds, k, rate } = flags;
    const plan = {
      ...{ entrants, sockets, stalled, rounds, turns, seconds, scope, onProgress: say },
      redisUrls: Object.fromEntries(redis),
      kafkaBrokers: kafka?.address ?? '',
      loads: rate?.map((one) => ({ outstanding: 0, rate: one })) ?? k.map((outstanding) => ({ outstanding })),
      isForAll: flags.auctions === 'one',
    };
    const samples = await runRounds(plan);
    const profiles = flags['flame-graph'] ? await profileServers(plan, name) : [];
    const buffers = hasSmallBuffers ? 'do not grow' : 'the kernel’s own';
    return {
      ...fanoutReport(samples, profiles, MAX_QUEUE_BYTES),
      ...(hasStalled && { conditions: { MAX_QUEUE_BYTES, 'socket buffers': buffers } }),
    };
  },
});

function contenderOf(name: string): Contender {
  return contenders.find((contender) => contender.name === name)!;
}

/** With both kinds, the base of a server on a cluster is the same server on one Redis server. */
function onRedis(kinds: readonly ContenderRedisKind[]): (contender: Contender) => Contender {
  return (contender) => {
    if (!kinds.includes('cluster')) return contender;
    return { ...onCluster(contender), base: kinds.length > 1 ? contender.name : undefined };
  };
}

/** A contender and its base, if it has one. They take turns unless they are fed by Kafka: both would consume each record. */
function withBase(contender: Contender, script: string | undefined): Contender[][] {
  const named = contender.base !== undefined && { ...contenderOf(contender.base), name: baseName(contender.name) };
  const base = named || (script !== undefined && isCrier(contender) && baseOf(contender, script));
  if (!base) return [[contender]];
  return contender.isFedByKafka ? [[contender], [base]] : [[contender, base]];
}
