import { parseArgs } from 'node:util';
import kafkajs from 'kafkajs';
import { startKafkaBroker } from '../deploy/kafka-broker.ts';
import { startRedisServer } from '../deploy/redis-server.ts';
import { runCommand } from './command.ts';
import { contenders } from './fanout/contenders.ts';
import type { Contender } from './fanout/contenders.ts';
import { AUCTION_TOPIC } from './fanout/auction.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { textTable } from './fanout/report.ts';
import { writeResults } from './fanout/results.ts';
import { faultsOf, stalledOutcome, summarize } from './fanout/summary.ts';
import { runTrial } from './fanout/trial.ts';
import type { Sample } from './fanout/trial.ts';
import { installPackages } from './packages.ts';
import { CLIENT_CORE, pinThisProcess } from './pinning.ts';

const USAGE = `One hot auction, thousands of sockets: crier against a plain broadcast and against other GraphQL servers.

Usage: npm run bench:fanout -- [flags]

  --servers <names>   of ${contenders.map(({ name }) => name).join(', ')}; default: all but crier-all and crier-history
  --k <numbers>       events on their way at a time; default: 1,4,16
  --sockets <numbers> default: 4000
  --stalled <numbers> so many of them stop reading; default: 0
  --auctions <one|each>  all sockets on one auction, or each on its own; default: one
  --rounds <number>   default: 3
  --seconds <number>  of each measurement, at least; default: 2
  --out <name>        loadtest/results/<name>.json, .md and .svg; default: fanout
  --help

Exits with 1 when anything was lost, or came that was not expected.
`;

const { values } = parseArgs({
  options: {
    servers: {
      type: 'string',
      default: contenders
        .filter(({ isFedByKafka }) => !isFedByKafka)
        .map(({ name }) => name)
        .join(','),
    },
    k: { type: 'string', default: '1,4,16' },
    sockets: { type: 'string', default: '4000' },
    stalled: { type: 'string', default: '0' },
    auctions: { type: 'string', default: 'one' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    out: { type: 'string', default: 'fanout' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const entrants = values.servers.split(',').map(contenderOf);
  pinThisProcess(CLIENT_CORE);
  if (entrants.some(({ name }) => name === 'mercurius')) installPackages('servers', progress);
  const redis = await startRedisServer();
  const kafka = entrants.some(({ isFedByKafka }) => isFedByKafka) ? await startKafkaBroker() : undefined;
  try {
    if (kafka) await createTopic(kafka.address);
    const rounds = await runRounds(entrants, redis.url, kafka?.address ?? '', signal);
    await publishResults(rounds);
  } finally {
    await kafka?.stop();
    await redis.stop();
    process.stderr.write('\n');
  }
}

async function createTopic(brokers: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.ERROR }).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: AUCTION_TOPIC, numPartitions: 4 }] });
  await admin.disconnect();
}

async function runRounds(
  entrants: readonly Contender[],
  redisUrl: string,
  kafkaBrokers: string,
  signal: AbortSignal,
): Promise<Sample[][]> {
  const rounds: Sample[][] = [];
  for (let round = 1; round <= number('rounds'); round++) {
    const samples: Sample[] = [];
    // Every other round backwards, so that what drifts does not always meet the same contender.
    for (const contender of round % 2 === 1 ? entrants : entrants.toReversed()) {
      for (const sockets of numbers('sockets')) {
        signal.throwIfAborted();
        const isForAll = values.auctions === 'one';
        const trial = (change: { isForAll: boolean; stalled: number; outstanding: readonly number[] }) =>
          runTrial({
            contender,
            redisUrl,
            kafkaBrokers,
            sockets,
            seconds: number('seconds'),
            signal,
            onPeriod: (what) => progress(`round ${round} of ${values.rounds}: ${contender.title}: ${what}`),
            ...change,
          });
        for (const stalled of numbers('stalled')) {
          samples.push(...(await trial({ isForAll, stalled, outstanding: numbers('k') })));
        }
        // What the others are held against.
        if (!isForAll && contender.name === 'raw-ws')
          samples.push(...(await trial({ isForAll: true, stalled: 0, outstanding: [1] })));
      }
    }
    rounds.push(samples);
  }
  return rounds;
}

async function publishResults(rounds: readonly (readonly Sample[])[]): Promise<void> {
  const rows = summarize(rounds);
  const faults = rounds.flat().flatMap(faultsOf);
  const conditions = { ...conditionsOf(), flags: flagText() };
  const outcomes = rounds.flat().flatMap((sample) => stalledOutcome(sample) ?? []);
  const paths = await writeResults(values.out, { conditions, rows, faults, rounds });
  process.stdout.write(`\n${textTable(rows)}\n${outcomes.map((line) => `${line}\n`).join('')}${paths.join(' ')}\n`);
  for (const fault of faults) process.stderr.write(`fanout: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}

function flagText(): string {
  return Object.entries(values)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
}

function contenderOf(name: string): Contender {
  const found = contenders.find((contender) => contender.name === name);
  if (!found) throw new Error(`--servers: expected ${contenders.map((c) => c.name).join(', ')}, got "${name}"`);
  return found;
}

function numbers(flag: 'k' | 'sockets' | 'stalled'): number[] {
  return values[flag].split(',').map((text) => wholeNumber(flag, text));
}

function number(flag: 'rounds' | 'seconds'): number {
  return wholeNumber(flag, values[flag]);
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`--${flag}: expected a whole number, got "${text}"`);
  return Number(text);
}

function progress(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
}

runCommand('fanout', main);
