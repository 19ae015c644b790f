import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { coreTrial } from './every-core/core-trial.ts';
import type { CoreSample } from './every-core/core-trial.ts';
import { WAYS, hotChannelTrial } from './every-core/hot-channel.ts';
import type { HotChannelSample } from './every-core/hot-channel.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { RESULTS_FOLDER } from './fanout/results.ts';
import { median } from './median.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { markdownTable, textTable } from './table.ts';
import type { Cells } from './table.ts';

const USAGE = `PROCESSES=1 on one core beside PROCESSES=2 on two: what does the second core bring?

Usage: npm run bench:cores -- [flags]

  --sockets <number>  all on one hot auction; default: 2000
  --k <numbers>       events in flight; default: 1,16
  --rounds <number>   default: 5
  --seconds <number>  least duration of a window; default: 4
  --messages <number> messages of the hot channel, for each way to two processes; default: 40000
  --out <name>        loadtest/results/<name>.json and .md; default: every-core
  --help

Client, publisher and Redis have no core of their own beside two of the server. So deliveries are divided by the CPU time of the
pod's processes: two cores bring the lesser of what two cores' worth of CPU time of all processes delivers, and of what the busiest one
delivers with a core of its own. Exits with 1 when a message was lost, or two cores bring less than 1.8 times one.
`;

const LEAST_SPEEDUP = 1.8;
const CORES = 2;

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

interface Row {
  readonly outstanding: number;
  /** Deliveries for a second of CPU time, in one process and in two. */
  readonly one: number;
  readonly two: number;
  readonly speedup: number;
  /** Share of the busiest process in the CPU time of two. */
  readonly busiest: number;
  /** Of the machine's cores, with two processes. */
  readonly machineBusy: number;
  /** Share of the client in that time. */
  readonly client: number;
}

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
      const inTurn = round % 2 === 0 ? [1, 2] : [2, 1];
      const options = { redisUrl: redis.url, sockets: numberFlag('sockets', values.sockets), outstanding };
      const seconds = numberFlag('seconds', values.seconds);
      const ofRound: CoreSample[] = [];
      for (const processes of inTurn)
        ofRound.push(...(await coreTrial({ ...options, processes, seconds, cores: processes === 1 ? '0' : '0,1' })));
      samples.push(ofRound);
      for (const k of outstanding)
        for (const way of WAYS) channel.push(await hotChannelTrial(way, k, messages, redis.url, redis.process.pid!));
    }
  } finally {
    await redis.stop();
  }
  return publish(samples, channel, outstanding);
}

async function publish(
  samples: readonly (readonly CoreSample[])[],
  channel: readonly HotChannelSample[],
  outstanding: readonly number[],
): Promise<number> {
  const rows = outstanding.map((k) => rowOf(k, samples));
  const faults = samples.flat().reduce((sum, sample) => sum + sample.faults, 0);
  const connecting = median(samples.flat().flatMap(({ connectUs }) => connectUs ?? []));
  const tables = [coreTable(rows), channelTable(channel, outstanding)];
  const conditions = {
    ...conditionsOf(),
    pinned: 'one process on core 0; two on both cores; client, publisher, Redis on core 1',
  };
  await mkdir(RESULTS_FOLDER, { recursive: true });
  const path = `${RESULTS_FOLDER}/${values.out}`;
  const flags = JSON.stringify(values);
  await writeFile(
    `${path}.json`,
    `${JSON.stringify({ conditions, flags, rows, connecting, faults, samples, channel }, null, 2)}\n`,
  );
  const [cores, hot] = tables.map(markdownTable);
  await writeFile(
    `${path}.md`,
    `# Results: ${values.out}

Medians of the rounds; a speed-up is the median of the rounds' own. K: events in flight. ${values.sockets} sockets on one auction.

${cores}
${faults === 0 ? 'Every socket received every event once.' : `${faults} faults.`} Handing a connection to a gateway took the process that
accepts them ${connecting.toFixed(0)} µs of CPU time.

## The hot channel on two processes

CPU time in µs for one message of 2 KB: two processes subscribe to the channel, or one does and passes the bytes on over a Unix socket.

${hot}
## Conditions

${Object.entries(conditions)
  .map(([name, value]) => `- ${name}: ${value}`)
  .join('\n')}
- flags: ${flags}
`,
  );
  process.stdout.write(`${tables.map(textTable).join('\n')}\n${path}.md\n`);
  return faults === 0 && rows.every(({ speedup }) => speedup >= LEAST_SPEEDUP) ? 0 : 1;
}

function rowOf(outstanding: number, rounds: readonly (readonly CoreSample[])[]): Row {
  const pairs = rounds.map((round) => {
    const of = (processes: number) =>
      round.find((sample) => sample.processes === processes && sample.outstanding === outstanding)!;
    return { one: of(1), two: of(2) };
  });
  const middle = (read: (pair: (typeof pairs)[number]) => number) => median(pairs.map(read));
  return {
    outstanding,
    one: middle(({ one }) => perSecond(one, one.cpuMs)),
    two: middle(({ two }) => perSecond(two, two.cpuMs)),
    speedup: middle(({ one, two }) => throughputOf(two) / perSecond(one, one.cpuMs)),
    busiest: middle(({ two }) => two.busiestMs / two.cpuMs),
    machineBusy: middle(({ two }) => two.machineBusy),
    client: middle(({ two }) => two.clientCpuMs / (two.clientCpuMs + two.cpuMs)),
  };
}

/** Deliveries a second on two cores. */
function throughputOf(sample: CoreSample): number {
  return Math.min(CORES * perSecond(sample, sample.cpuMs), perSecond(sample, sample.busiestMs));
}

function perSecond({ deliveries }: CoreSample, ms: number): number {
  return (deliveries * 1000) / ms;
}

function coreTable(rows: readonly Row[]): Cells[] {
  return [
    [
      'K',
      'one process, deliveries per CPU-second',
      'two processes',
      'two cores bring',
      'busiest process',
      'machine busy',
      'client’s share',
    ],
    ...rows.map(({ outstanding, one, two, speedup, busiest, machineBusy, client }) => [
      String(outstanding),
      ...[one, two].map((value) => Math.round(value).toLocaleString('en')),
      `${speedup.toFixed(2)} times`,
      ...[busiest, machineBusy, client].map((share) => `${Math.round(share * 100)} %`),
    ]),
  ];
}

function channelTable(samples: readonly HotChannelSample[], bursts: readonly number[]): Cells[] {
  const rows = bursts.flatMap((burst) =>
    WAYS.map((way) => {
      const own = samples.filter((sample) => sample.way === way && sample.burst === burst);
      const [processes, redis] = [median(own.map((one) => one.processesUs)), median(own.map((one) => one.redisUs))];
      return [way, String(burst), ...[processes, redis, processes + redis].map((us) => us.toFixed(1))];
    }),
  );
  return [['received by', 'messages at once', 'both processes', 'Redis', 'together'], ...rows];
}

runCommand('bench:cores', main);
