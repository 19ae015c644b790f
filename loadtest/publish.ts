import { setTimeout as delay } from 'node:timers/promises';
import { startRedisCluster } from '../stack/redis-cluster.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { costOf } from './processes/cpu-cost.ts';
import type { Cost } from './processes/cpu-cost.ts';
import { limitCpu } from './processes/cpu-quota.ts';
import { CLIENT_CORE, SERVER_CORE, canPin, pinThisProcess } from './processes/pinning.ts';
import { PublishLoad } from './publish/publish-load.ts';
import { whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import type { Scope } from './runner/scope.ts';
import { spreadsOf, sum } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';

/** Of a core, for each Redis server: three together, and the cluster's other work, fit on one. */
const QUOTA = 0.2;
const LEAST_SPEEDUP = 2.5;
/** Until every partition waits for Redis. */
const LEAD_MS = 1000;

const ONE_SHARD = 'a cluster of 1 shard';
/** What crier publishes on, in the order of the table. */
const TOPOLOGIES = ['one server', ONE_SHARD, 'a cluster of 3 shards'] as const;
type Topology = (typeof TOPOLOGIES)[number];

interface Trial {
  readonly topology: Topology;
  readonly load: PublishLoad;
  /** Of each Redis server. */
  readonly pids: readonly number[];
}

export interface Sample extends Cost {
  readonly topology: Topology;
  readonly records: number;
  /** Difference between the messages that were published and those that arrived. */
  readonly lost: number;
}

export const scenario = defineScenario({
  name: 'publish',
  question:
    'A worker that is behind publishes on a Redis Cluster of 1 shard and on one of 3 shards: what do the shards bring?',
  flags: { rounds: whole('rounds', 5), seconds: whole('duration of a window', 4) },
  out: 'publish-shards',
  packages: ['ioredis'],
  notes: `Each Redis server has a quota of ${QUOTA * 100} % of a core, so that Redis is the bottleneck. That needs root and control groups of version 1;
without them only the records for each CPU-second of the busiest server count. Exits with 1 when a message was lost, or 3 shards bring less
than ${LEAST_SPEEDUP} times 1 shard.`,
  run: async ({ flags: { rounds, seconds }, scope, say, signal }) => {
    // The servers inherit the core.
    pinThisProcess(CLIENT_CORE);
    const trials: Trial[] = [];
    for (const topology of TOPOLOGIES) trials.push(await openTrial(topology, scope));
    const isLimited = trials
      .flatMap(({ pids }) => pids)
      .map((pid) => limited(pid, scope))
      .every(Boolean);
    pinThisProcess(SERVER_CORE);
    const samples: Sample[][] = [];
    for (let round = 0; round < rounds; round++) {
      say(`round ${round + 1} of ${rounds}`);
      const ofRound: Sample[] = [];
      for (const trial of round % 2 === 0 ? trials : trials.toReversed()) {
        signal.throwIfAborted();
        ofRound.push(await measure(trial, seconds));
      }
      samples.push(ofRound);
    }
    const rows = rowsOf(samples);
    const three = rows.at(-1)!;
    const [what, { median: speedup }] = isLimited
      ? ['the throughput', three.speedup]
      : ['the records for each CPU-second of the busiest server', three.cpuSpeedup];
    const lost = sum(samples.flat().map((sample) => sample.lost));
    const arrived = lost === 0 ? 'Every record arrived.' : `${lost} messages were lost, or arrived twice.`;
    return {
      intro: `Medians of the rounds; each ratio is the median of the rounds' own ratios. The busiest server's CPU time is that for 1,000 records of the
whole topology; its ratio is what 3 shards publish for a CPU-second of their busiest server, against 1 shard. Busy: shares of a core.`,
      sections: [{ table: tableOf(rows), note: arrived }],
      success: `3 shards bring ${speedup.toFixed(2)} times ${what} of 1 shard.`,
      faults: [
        ...(lost > 0 ? [arrived] : []),
        ...(speedup < LEAST_SPEEDUP
          ? [`3 shards bring ${speedup.toFixed(2)} times ${what} of 1 shard, not ${LEAST_SPEEDUP}`]
          : []),
      ],
      conditions: {
        pinned: canPin ? 'publisher and subscriber, one process, on one core; Redis on another' : 'no',
        quota: isLimited ? `${QUOTA * 100} % of a core` : 'no quota',
      },
      data: { rows },
    };
  },
});

/** Starts the servers of a topology, without replicas, and fills the histories. */
async function openTrial(topology: Topology, scope: Scope): Promise<Trial> {
  const shards = topology === ONE_SHARD ? 1 : 3;
  const one = topology === 'one server' ? scope.own(await startRedisServer()) : undefined;
  const servers = one ?? scope.own(await startRedisCluster({ shards, replicas: 0 }));
  const pids = ('primaries' in servers ? servers.primaries : [servers]).map((server) => server.process.pid!);
  const load = new PublishLoad(servers.url);
  scope.after(() => load.close());
  await load.open();
  return { topology, load, pids };
}

/** Whether the quota of a server is in force. It is removed after the server has ended. */
function limited(pid: number, scope: Scope): boolean {
  const quota = limitCpu(pid, QUOTA);
  if (quota) scope.last(() => quota.remove());
  return quota !== undefined;
}

async function measure({ topology, load, pids }: Trial, seconds: number): Promise<Sample> {
  let records = 0;
  let cost: Cost | undefined;
  const lost = await load.runDuring(async () => {
    await delay(LEAD_MS);
    const before = load.accepted;
    cost = await costOf(pids, () => delay(seconds * 1000));
    records = load.accepted - before;
  });
  return { topology, records, lost, ...cost! };
}

/** Spread of the rounds. Ratios are to a cluster of 1 shard in the same round. */
export function rowsOf(rounds: readonly (readonly Sample[])[]) {
  const of = (wanted: Topology) => rounds.map((round) => round.find((sample) => sample.topology === wanted)!);
  const reference = of(ONE_SHARD);
  const perSecond = ({ records, durationMs }: Sample) => (records * 1000) / durationMs;
  const busiestMs = ({ redisMs, records }: Sample) => (Math.max(...redisMs) / records) * 1000;
  return TOPOLOGIES.map((topology) => ({
    topology,
    rounds: rounds.length,
    ...spreadsOf(of(topology), {
      recordsPerSecond: perSecond,
      redisMs: ({ redisMs, records }) => (sum(redisMs) / records) * 1000,
      busiestMs,
      busiestShare: ({ redisMs, durationMs }) => Math.max(...redisMs) / durationMs,
      ownShare: ({ ownMs, durationMs }) => ownMs / durationMs,
      speedup: (sample, round) => perSecond(sample) / perSecond(reference[round]!),
      cpuSpeedup: (sample, round) => busiestMs(reference[round]!) / busiestMs(sample),
    }),
  }));
}

export function tableOf(rows: ReturnType<typeof rowsOf>): Cells[] {
  const head = ['Redis', 'records/s', '× 1 shard', 'Redis CPU ms/1,000', 'busiest server', '× 1 shard'];
  return [
    [...head, 'busiest server busy', 'publisher busy'],
    ...rows.map((row) => [
      row.topology,
      Math.round(row.recordsPerSecond.median).toLocaleString('en'),
      `${row.speedup.median.toFixed(2)} ×`,
      ...[row.redisMs, row.busiestMs].map(({ median }) => median.toFixed(1)),
      `${row.cpuSpeedup.median.toFixed(2)} ×`,
      ...[row.busiestShare, row.ownShare].map(({ median }) => `${Math.round(median * 100)} %`),
    ]),
  ];
}
