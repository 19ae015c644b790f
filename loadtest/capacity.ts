import { parseArgs } from 'node:util';
import { startRedisCluster } from '../stack/redis-cluster.ts';
import type { RedisCluster } from '../stack/redis-cluster.ts';
import { printed } from './capacity/figures.ts';
import type { Figures, Parts } from './capacity/figures.ts';
import { credits } from './capacity/credits.ts';
import { hotChannel, marks } from './capacity/hot-channel.ts';
import { leases } from './capacity/leases.ts';
import { histories, subscriptions } from './capacity/memory.ts';
import { FLOW, HOT_CHANNEL, capacityPicture } from './capacity/picture.ts';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import type { Conditions } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, SERVER_CORE, canPin, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { spreadOf } from './spread.ts';
import type { Spread } from './spread.ts';
import { markdownTable, textTable } from './table.ts';
import type { Cells } from './table.ts';

const USAGE = `What does a fleet cost a shard of a Redis Cluster, and its workers?

Usage: npm run bench:capacity -- [flags]

  --rounds <number>      default: 3
  --seconds <number>     duration of a window; default: 2
  --pods <number>        most pods; also measured with a tenth, a hundredth and so on; default: 1000
  --channels <number>    that each of four pods subscribes to; default: 100000
  --partitions <number>  that a worker leases; also measured with a tenth; default: 1000
  --out <name>           loadtest/results/<name>.json, .md and .svg; default: capacity
  --help

It measures, and compares with nothing. Exits with 1 when a message was lost.
`;

const PODS_OF_CHANNELS = 4;
const HISTORY_ENTRIES = 50;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    pods: { type: 'string', default: '1000' },
    channels: { type: 'string', default: '100000' },
    partitions: { type: 'string', default: '1000' },
    out: { type: 'string', default: 'capacity' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const rounds = numberFlag('rounds', values.rounds);
  const all: Parts[] = [];
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    const one = await withCluster(1, (cluster) => measureShard(cluster, signal));
    const three = await withCluster(3, (cluster) => measureLeases(cluster, signal));
    all.push({ ...one, ...three });
  }
  const parts = mapParts(all[0]!, (part, name, column) => spreadOf(all.map((round) => round[part]![name]![column]!)));
  const conditions = {
    ...conditionsOf(['node_modules/ioredis']),
    pinned: canPin ? 'worker and pods, one process, on one core; Redis on another' : 'no',
    flags: JSON.stringify(values),
  };
  const paths = await writeResults(rounds, parts, conditions);
  for (const [title, part] of Object.entries(parts)) process.stdout.write(`${title}\n${textTable(tableOf(part))}\n`);
  process.stdout.write(`${paths.join(' ')}\n`);
}

/** Each cluster is new: it has the memory of nothing else. The servers inherit their core. */
async function withCluster(shards: number, measure: (cluster: RedisCluster) => Promise<Parts>): Promise<Parts> {
  pinThisProcess(CLIENT_CORE);
  const cluster = await startRedisCluster({ shards, replicas: 0 });
  pinThisProcess(SERVER_CORE);
  try {
    return await measure(cluster);
  } finally {
    await cluster.stop();
  }
}

async function measureShard({ url, primaries }: RedisCluster, signal: AbortSignal): Promise<Parts> {
  const [shard] = primaries as [RedisCluster['primaries'][number]];
  const [seconds, most] = [numberFlag('seconds', values.seconds), numberFlag('pods', values.pods)];
  const channels = numberFlag('channels', values.channels);
  const counts = tenths(most);
  const records: Record<string, Figures> = {};
  const ofFlow: Record<string, Figures> = {};
  for (const pods of counts) {
    signal.throwIfAborted();
    for (const chunk of [1, 16]) {
      records[`${named(pods, 'pod')}, ${named(chunk, 'record')} at a time`] = await hotChannel(
        url,
        shard,
        pods,
        chunk,
        seconds,
      );
    }
    ofFlow[named(pods, 'pod')] = await marks(shard, pods, seconds);
  }
  const answers = { [named(most, 'pod')]: await credits(url, shard, most, seconds) };
  signal.throwIfAborted();
  const kept = { [`${HISTORY_ENTRIES} entries each`]: await histories(url, shard, HISTORY_ENTRIES) };
  const [first, others] = await subscriptions(url, shard, PODS_OF_CHANNELS, channels);
  const pods = { 'the first pod': first!, 'each further pod': others! };
  return {
    [HOT_CHANNEL]: records,
    [FLOW]: ofFlow,
    'Credits of every pod to one worker': answers,
    'Histories of 1,000 channels': kept,
    [`${named(channels, 'channel')} that each pod subscribes to at once`]: pods,
  };
}

async function measureLeases(cluster: RedisCluster, signal: AbortSignal): Promise<Parts> {
  const most = numberFlag('partitions', values.partitions);
  const rows: Record<string, Figures> = {};
  for (const partitions of [Math.ceil(most / 10), most]) {
    signal.throwIfAborted();
    rows[named(partitions, 'partition')] = await leases(cluster, partitions);
  }
  return { 'Leases of partitions by another worker, on three shards': rows };
}

/** 1, …, a hundredth, a tenth, all. */
function tenths(most: number): number[] {
  return most <= 1 ? [1] : [...tenths(Math.floor(most / 10)), most];
}

function named(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function mapParts(parts: Parts, valueOf: (part: string, name: string, column: string) => Spread): Parts<Spread> {
  const map = <From, To>(record: Readonly<Record<string, From>>, to: (value: From, key: string) => To) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value, key)]));
  return map(parts, (rows, part) =>
    map(rows, (figures, name) => map(figures, (_, column) => valueOf(part, name, column))),
  );
}

function tableOf(part: Parts<Spread>[string]): Cells[] {
  const columns = Object.keys(Object.values(part)[0]!);
  const cells = (figures: Figures<Spread>) => columns.map((column) => printed(figures[column]!.median));
  return [['', ...columns], ...Object.entries(part).map(([name, figures]) => [name, ...cells(figures)])];
}

async function writeResults(rounds: number, parts: Parts<Spread>, conditions: Conditions): Promise<string[]> {
  const tables = Object.entries(parts).map(([title, part]) => `## ${title}\n\n${markdownTable(tableOf(part))}`);
  const md = [
    `# Results: ${values.out}\n\nMedians of the rounds, on a Redis Cluster without replicas: of one shard, the leases of three. What a message out costs\n` +
      `includes the kernel's work for its receiver, which is on the same machine.\n`,
    ...tables,
    `## Conditions\n\n${conditionsList(conditions)}`,
    `![The same as a picture](${values.out}.svg)\n`,
  ].join('\n');
  return writeResult(values.out, { conditions, rounds, parts }, { md, svg: capacityPicture(parts, conditions) });
}

runCommand('capacity', main);
