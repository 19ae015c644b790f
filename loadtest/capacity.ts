import { startRedisCluster } from '../stack/redis-cluster.ts';
import type { RedisCluster } from '../stack/redis-cluster.ts';
import { credits } from './capacity/credits.ts';
import { printed } from './capacity/figures.ts';
import type { Figures, Parts } from './capacity/figures.ts';
import { hotChannel, marks } from './capacity/hot-channel.ts';
import { leases } from './capacity/leases.ts';
import { histories, subscriptions } from './capacity/memory.ts';
import { CLIENT_CORE, SERVER_CORE, canPin, pinThisProcess } from './processes/pinning.ts';
import { whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { Scope } from './runner/scope.ts';
import { spreadOf } from './runner/spread.ts';
import type { Spread } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';

const PODS_OF_CHANNELS = 4;
const HISTORY_ENTRIES = 50;

const flags = {
  rounds: whole('rounds', 3),
  seconds: whole('duration of a window', 2),
  pods: whole('most pods; also measured with a tenth, a hundredth and so on', 1000),
  channels: whole('that each of four pods subscribes to', 100_000),
  partitions: whole('that a worker leases; also measured with a tenth', 1000),
};

type Plan = Readonly<Record<keyof typeof flags, number>>;

export const scenario = defineScenario({
  name: 'capacity',
  question: 'What does a fleet cost a shard of a Redis Cluster, and its workers?',
  flags,
  packages: ['ioredis'],
  notes: 'It measures, and compares with nothing. Exits with 1 when a message was lost.',
  run: async ({ flags: plan, scope, say }) => {
    const rounds: Parts[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      say(`round ${round + 1} of ${plan.rounds}`);
      const one = await withCluster(1, scope, (cluster) => measureShard(cluster, plan));
      const three = await withCluster(3, scope, (cluster) => measureLeases(cluster, plan.partitions));
      rounds.push({ ...one, ...three });
    }
    const parts = mapped(rounds[0]!, (rows, part) =>
      mapped(rows, (figures, name) =>
        mapped(figures, (_, column) => spreadOf(rounds.map((round) => round[part]![name]![column]!))),
      ),
    );
    return {
      intro: `Medians of the rounds, on a Redis Cluster without replicas: of one shard, the leases of three. What a message out costs
includes the kernel's work for its receiver, which is on the same machine.`,
      sections: Object.entries(parts).map(([title, part]) => ({ title, table: tableOf(part) })),
      success: 'Every message arrived.',
      faults: [],
      conditions: { pinned: canPin ? 'worker and pods, one process, on one core; Redis on another' : 'no' },
      data: { rounds: plan.rounds, parts },
    };
  },
});

/** Each cluster is new: it has the memory of nothing else. The servers inherit their core. */
async function withCluster(
  shards: number,
  outer: Scope,
  measure: (cluster: RedisCluster) => Promise<Parts>,
): Promise<Parts> {
  const scope = new Scope();
  outer.after(() => scope.close());
  pinThisProcess(CLIENT_CORE);
  const cluster = scope.own(await startRedisCluster({ shards, replicas: 0 }));
  pinThisProcess(SERVER_CORE);
  const parts = await measure(cluster);
  await scope.close();
  return parts;
}

async function measureShard({ url, primaries }: RedisCluster, { pods: most, seconds, channels }: Plan): Promise<Parts> {
  const [shard] = primaries as [RedisCluster['primaries'][number]];
  const records: Record<string, Figures> = {};
  const ofFlow: Record<string, Figures> = {};
  for (const pods of tenths(most)) {
    for (const chunk of [1, 16]) {
      const name = `${named(pods, 'pod')}, ${named(chunk, 'record')} at a time`;
      records[name] = await hotChannel(url, shard, pods, chunk, seconds);
    }
    ofFlow[named(pods, 'pod')] = await marks(shard, pods, seconds);
  }
  const answers = { [named(most, 'pod')]: await credits(url, shard, most, seconds) };
  const kept = { [`${HISTORY_ENTRIES} entries each`]: await histories(url, shard, HISTORY_ENTRIES) };
  const [first, others] = await subscriptions(url, shard, PODS_OF_CHANNELS, channels);
  return {
    'One hot channel: records of 2 KB to every pod': records,
    'Marks of flow control to every pod': ofFlow,
    'Credits of every pod to one worker': answers,
    'Histories of 1,000 channels': kept,
    [`${named(channels, 'channel')} that each pod subscribes to at once`]: {
      'the first pod': first!,
      'each further pod': others!,
    },
  };
}

async function measureLeases(cluster: RedisCluster, most: number): Promise<Parts> {
  const rows: Record<string, Figures> = {};
  for (const partitions of [Math.ceil(most / 10), most])
    rows[named(partitions, 'partition')] = await leases(cluster, partitions);
  return { 'Leases of partitions by another worker, on three shards': rows };
}

/** 1, …, a hundredth, a tenth, all. */
function tenths(most: number): number[] {
  return most <= 1 ? [1] : [...tenths(Math.floor(most / 10)), most];
}

function named(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function mapped<From, To>(
  record: Readonly<Record<string, From>>,
  to: (value: From, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
}

function tableOf(part: Parts<Spread>[string]): Cells[] {
  const columns = Object.keys(Object.values(part)[0]!);
  const cells = (figures: Figures<Spread>) => columns.map((column) => printed(figures[column]!.median));
  return [['', ...columns], ...Object.entries(part).map(([name, figures]) => [name, ...cells(figures)])];
}
