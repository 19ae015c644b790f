import { coreTrial } from './cores/core-trial.ts';
import type { CoreSample } from './cores/core-trial.ts';
import { whole, wholes } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { spreadOf, spreadsOf } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';

const LEAST_SPEEDUP = 1.8;
const CORES = 2;

export const scenario = defineScenario({
  name: 'cores',
  question: 'PROCESSES=1 on one core beside PROCESSES=2 on two: what does the second core bring?',
  flags: {
    sockets: whole('all on one hot auction', 2000),
    k: wholes('events in flight; two processes are also measured with as many for each of them', '1,16', 1),
    rounds: whole('rounds', 5),
    seconds: whole('least duration of a window', 4),
  },
  out: 'every-core',
  notes: `Client, publisher and Redis have no core of their own beside two of the server. So deliveries are divided by the CPU time of the
pod's processes: two cores bring the lesser of what two cores' worth of CPU time of all processes delivers, and of what the busiest one
delivers with a core of its own. Exits with 1 when a message was lost, or two cores bring less than ${LEAST_SPEEDUP} times one with as many events
in flight for each process.`,
  run: async ({ flags: { sockets, k, rounds, seconds }, scope, say, signal }) => {
    const { url: redisUrl } = await scope.redis();
    const ofTwo = [...new Set(k.flatMap((one) => [one, CORES * one]))];
    const trials = [
      { redisUrl, sockets, seconds, processes: 1, cores: '0', outstanding: k },
      { redisUrl, sockets, seconds, processes: CORES, cores: '0,1', outstanding: ofTwo },
    ];
    const samples: CoreSample[][] = [];
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      say(`round ${round + 1} of ${rounds}`);
      const ofRound: CoreSample[] = [];
      for (const trial of round % 2 === 0 ? trials : trials.toReversed())
        ofRound.push(...(await coreTrial(trial, scope)));
      samples.push(ofRound);
    }
    const rows = k.flatMap((one) => [one, CORES * one].map((two) => rowOf(one, two, samples)));
    const lost = samples.flat().reduce((all, { faults }) => all + faults, 0);
    const connectUs = spreadOf(samples.flat().flatMap((sample) => sample.connectUs ?? []));
    const slow = rows.filter(
      ({ outstanding, ofTwo, speedup }) => ofTwo > outstanding && speedup.median < LEAST_SPEEDUP,
    );
    return {
      intro: `Medians of the rounds; a speed-up is the median of the rounds' own. K: events in flight. ${sockets} sockets on one auction.
A new event is published when one has reached all sockets. So two processes that share a window wait for each other and have
fewer events at a time, thus fewer frames in a write to a socket; with a window for each, K of two is twice K.`,
      sections: [
        {
          table: tableOf(rows),
          note: `Handing a connection to a gateway took the process that accepts them ${connectUs.median.toFixed(0)} µs of CPU time.`,
        },
      ],
      success: 'Every socket received every event once.',
      faults: [
        ...(lost > 0 ? [`${lost} faults of deliveries`] : []),
        ...slow.map(
          ({ ofTwo, speedup }) => `K of two ${ofTwo}: two cores bring ${speedup.median.toFixed(2)} times one`,
        ),
      ],
      conditions: { pinned: 'one process on core 0; two on both cores; client, publisher, Redis on core 1' },
      data: { rows, connectUs },
    };
  },
});

type CoreRow = ReturnType<typeof rowOf>;

/** Spread of the rounds. @param outstanding of one process; `ofTwo`: of two */
function rowOf(outstanding: number, ofTwo: number, rounds: readonly (readonly CoreSample[])[]) {
  const pairs = rounds.map((round) => {
    const of = (processes: number, k: number) =>
      round.find((sample) => sample.processes === processes && sample.outstanding === k)!;
    return { one: of(1, outstanding), two: of(CORES, ofTwo) };
  });
  const perSecond = ({ deliveries }: CoreSample, ms: number) => (deliveries * 1000) / ms;
  const onTwoCores = (two: CoreSample) => Math.min(CORES * perSecond(two, two.cpuMs), perSecond(two, two.busiestMs));
  const figures = spreadsOf(pairs, {
    one: ({ one }) => perSecond(one, one.cpuMs),
    two: ({ two }) => perSecond(two, two.cpuMs),
    speedup: ({ one, two }) => onTwoCores(two) / perSecond(one, one.cpuMs),
    framesOfOne: ({ one }) => one.framesPerWrite,
    framesOfTwo: ({ two }) => two.framesPerWrite,
    busiest: ({ two }) => two.busiestMs / two.cpuMs,
    machineBusy: ({ two }) => two.machineBusy,
    client: ({ two }) => two.clientCpuMs / (two.clientCpuMs + two.cpuMs),
  });
  return { outstanding, ofTwo, rounds: rounds.length, ...figures };
}

function tableOf(rows: readonly CoreRow[]): Cells[] {
  const head = ['K', 'K of two', 'one process, deliveries per CPU-second', 'two processes', 'two cores bring'];
  return [
    [...head, 'frames in a write, one process', 'two', 'busiest process', 'machine busy', 'client’s share'],
    ...rows.map((row) => [
      String(row.outstanding),
      String(row.ofTwo),
      ...[row.one, row.two].map(({ median }) => Math.round(median).toLocaleString('en')),
      `${row.speedup.median.toFixed(2)} times`,
      ...[row.framesOfOne, row.framesOfTwo].map(({ median }) => median.toFixed(1)),
      ...[row.busiest, row.machineBusy, row.client].map(({ median }) => `${Math.round(median * 100)} %`),
    ]),
  ];
}
