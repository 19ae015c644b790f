import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, SERVER_CORE, canPin, pinThisProcess } from './processes/pinning.ts';
import { publishRows, publishTable, writePublishResults } from './publish/report.ts';
import { openPublishTrial } from './publish/publish-trial.ts';
import type { PublishSample, PublishTrial } from './publish/publish-trial.ts';
import { TOPOLOGIES } from './publish/redis-servers.ts';
import { textTable } from './table.ts';

/** Of a core, for each Redis server: three together, and the cluster's other work, fit on one. */
const QUOTA = 0.2;
const LEAST_SPEEDUP = 2.5;

const USAGE = `A worker that is behind publishes on a Redis Cluster of 1 shard and on one of 3 shards: what do the shards bring?

Usage: npm run bench:publish -- [flags]

  --rounds <number>   default: 5
  --seconds <number>  duration of a window; default: 4
  --out <name>        loadtest/results/<name>.json, .md and .svg; default: publish-shards
  --help

Each Redis server has a quota of ${QUOTA * 100} % of a core, so that Redis is the bottleneck. That needs root and control groups of version 1;
without them only the records for each CPU-second of the busiest server count. Exits with 1 when a message was lost, or 3 shards bring less
than ${LEAST_SPEEDUP} times 1 shard.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    out: { type: 'string', default: 'publish-shards' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<number | void> {
  if (values.help) return void process.stdout.write(USAGE);
  const [rounds, seconds] = [numberFlag('rounds', values.rounds), numberFlag('seconds', values.seconds)];
  const trials: PublishTrial[] = [];
  const samples: PublishSample[][] = [];
  try {
    // The servers inherit the core.
    pinThisProcess(CLIENT_CORE);
    for (const topology of TOPOLOGIES) trials.push(await openPublishTrial(topology, QUOTA));
    pinThisProcess(SERVER_CORE);
    for (let round = 0; round < rounds; round++) {
      say(`round ${round + 1} of ${rounds}`);
      const ofRound: PublishSample[] = [];
      for (const trial of round % 2 === 0 ? trials : trials.toReversed()) {
        signal.throwIfAborted();
        ofRound.push(await trial.measure(seconds));
      }
      samples.push(ofRound);
    }
  } finally {
    for (const trial of trials) await trial.stop();
  }
  return publishResults(
    samples,
    trials.every(({ isLimited }) => isLimited),
  );
}

async function publishResults(rounds: readonly (readonly PublishSample[])[], isLimited: boolean): Promise<number> {
  const rows = publishRows(rounds);
  const lost = rounds.flat().reduce((sum, sample) => sum + sample.lost, 0);
  const three = rows.at(-1)!;
  const [what, speedup] = isLimited
    ? ['the throughput', three.speedup.median]
    : ['the records for each CPU-second of the busiest server', three.cpuSpeedup.median];
  const conditions = {
    ...conditionsOf(['node_modules/ioredis']),
    pinned: canPin ? 'publisher and subscriber, one process, on one core; Redis on another' : 'no',
    quota: isLimited ? `${QUOTA * 100} % of a core` : 'no quota',
    flags: JSON.stringify(values),
  };
  const arrived = lost === 0 ? 'Every record arrived.' : `${lost} messages were lost, or arrived twice.`;
  const verdict = `3 shards bring ${speedup.toFixed(2)} times ${what} of 1 shard. ${arrived}`;
  const paths = await writePublishResults(values.out, { conditions, rows }, verdict);
  process.stdout.write(`${textTable(publishTable(rows))}\n${verdict}\n${paths.join(' ')}\n`);
  return lost === 0 && speedup >= LEAST_SPEEDUP ? 0 : 1;
}

runCommand('publish', main);
