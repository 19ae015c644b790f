import { parseArgs } from 'node:util';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { coreTrial } from './every-core/core-trial.ts';
import type { CoreSample } from './every-core/core-trial.ts';
import { WAYS, hotChannelTrial } from './every-core/hot-channel.ts';
import type { HotChannelSample } from './every-core/hot-channel.ts';
import { CORES, channelRows, channelTable, coreTable, corePicture, rowOf } from './every-core/report.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { spreadOf } from './spread.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `PROCESSES=1 on one core beside PROCESSES=2 on two: what does the second core bring?

Usage: npm run bench:cores -- [flags]

  --sockets <number>  all on one hot auction; default: 2000
  --k <numbers>       events in flight; two processes are also measured with as many for each of them; default: 1,16
  --rounds <number>   default: 5
  --seconds <number>  least duration of a window; default: 4
  --messages <number> messages of the hot channel, for each way to two processes; default: 40000
  --out <name>        loadtest/results/<name>.json, .md and .svg; default: every-core
  --help

Client, publisher and Redis have no core of their own beside two of the server. So deliveries are divided by the CPU time of the
pod's processes: two cores bring the lesser of what two cores' worth of CPU time of all processes delivers, and of what the busiest one
delivers with a core of its own. Exits with 1 when a message was lost, or two cores bring less than 1.8 times one with as many events
in flight for each process.
`;

const LEAST_SPEEDUP = 1.8;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '2000' },
    k: { type: 'string', default: '1,16' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    messages: { type: 'string', default: '40000' },
    out: { type: 'string', default: 'every-core' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<number | void> {
  if (values.help) return void process.stdout.write(USAGE);
  const [rounds, messages] = [numberFlag('rounds', values.rounds), numberFlag('messages', values.messages, 1000)];
  const outstanding = values.k.split(',').map((k) => numberFlag('k', k));
  pinThisProcess(CLIENT_CORE);
  const redis = await startRedisServer();
  const samples: CoreSample[][] = [];
  const channel: HotChannelSample[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      say(`round ${round + 1} of ${rounds}`);
      const seconds = numberFlag('seconds', values.seconds);
      const options = { redisUrl: redis.url, sockets: numberFlag('sockets', values.sockets), seconds };
      const trials = [
        { ...options, processes: 1, cores: '0', outstanding },
        { ...options, processes: CORES, cores: '0,1', outstanding: windowsOfTwo(outstanding) },
      ];
      const ofRound: CoreSample[] = [];
      for (const trial of round % 2 === 0 ? trials : trials.toReversed()) ofRound.push(...(await coreTrial(trial)));
      samples.push(ofRound);
      for (const k of outstanding)
        for (const way of WAYS) channel.push(await hotChannelTrial(way, k, messages, redis.url, redis.process.pid!));
    }
  } finally {
    await redis.stop();
  }
  return publish(samples, channel, outstanding);
}

/** The same events in flight as one process has, and as many for each process. */
function windowsOfTwo(outstanding: readonly number[]): number[] {
  return [...new Set(outstanding.flatMap((k) => [k, CORES * k]))];
}

async function publish(
  samples: readonly (readonly CoreSample[])[],
  ofChannel: readonly HotChannelSample[],
  outstanding: readonly number[],
): Promise<number> {
  const rows = outstanding.flatMap((k) => [k, CORES * k].map((ofTwo) => rowOf(k, ofTwo, samples)));
  const faults = samples.flat().reduce((sum, sample) => sum + sample.faults, 0);
  const connectUs = spreadOf(samples.flat().flatMap(({ connectUs }) => connectUs ?? []));
  const channel = channelRows(ofChannel, outstanding);
  const tables = [coreTable(rows), channelTable(channel)];
  const flags = JSON.stringify(values);
  const conditions = {
    ...conditionsOf(),
    pinned: 'one process on core 0; two on both cores; client, publisher, Redis on core 1',
    flags,
  };
  const [cores, hot] = tables.map(markdownTable);
  const md = `# Results: ${values.out}

Medians of the rounds; a speed-up is the median of the rounds' own. K: events in flight. ${values.sockets} sockets on one auction.
A new event is published when one has reached all sockets. So two processes that share a window wait for each other and have
fewer events at a time, thus fewer frames in a write to a socket; with a window for each, K of two is twice K.

${cores}
${faults === 0 ? 'Every socket received every event once.' : `${faults} faults.`} Handing a connection to a gateway took the process that
accepts them ${connectUs.median.toFixed(0)} µs of CPU time.

## The hot channel on two processes

CPU time in µs for one message of 2 KB: two processes subscribe to the channel, or one does and passes the bytes on over a Unix socket.

${hot}
## Conditions

${conditionsList(conditions)}
![The same as a picture](${values.out}.svg)
`;
  const svg = corePicture(rows, channel, conditions);
  const paths = await writeResult(values.out, { conditions, rows, connectUs, faults, channel }, { md, svg });
  process.stdout.write(`${tables.map(textTable).join('\n')}\n${paths.join(' ')}\n`);
  return faults === 0 &&
    rows.every(({ outstanding, ofTwo, speedup }) => ofTwo === outstanding || speedup.median >= LEAST_SPEEDUP)
    ? 0
    : 1;
}

runCommand('bench:cores', main);
