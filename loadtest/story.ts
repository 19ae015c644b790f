import { auctionDocument } from './fanout/auction.ts';
import { choice, choices, on, optional, whole } from './runner/flags.ts';
import { publish } from './runner/report.ts';
import { conditionsOf } from './runner/conditions.ts';
import { defineScenario } from './runner/scenario.ts';
import { missedBounds } from './story/backlog/bounds.ts';
import { phaseSpreads } from './story/figures.ts';
import { podSetOf, podSets, withSettings } from './story/pods/pod-set.ts';
import { remarks, sampleLine, tablesOf } from './story/report/tables.ts';
import { storyPicture } from './story/report/time-chart.ts';
import { FULL_PHASES, SHORT_PHASES } from './story/result.ts';
import type { StoryResult } from './story/result.ts';
import { runStory } from './story/run.ts';
import { startStack } from './story/stack.ts';

/** Subscription documents by name. Each selects `version`, the number of the copy. `few`: docs/why/performance.md, "Flood it yourself". */
const SELECTIONS = {
  all: auctionDocument(),
  few: `subscription Few($auction_id: Int!) {
    auction_updated(auction_id: $auction_id) { auction_id auction_status starting_bid version }
  }`,
};

/** The JSON file of a story. */
export type StoryFigures = Omit<StoryResult, 'samples'> & { readonly spreads: ReturnType<typeof phaseSpreads> };

export const scenario = defineScenario({
  name: 'loadtest',
  command: 'loadtest',
  question:
    'The story: crier without sockets, then with thousands of idle sockets, then in a flood that does not wait for deliveries.',
  flags: {
    sockets: whole('sockets', 4000),
    pods: choices(
      'runs these one after the other',
      podSets.map(({ name }) => name),
      ['one'],
    ),
    fields: choice('of the subscription; few: as in docs/why/performance.md', ['all', 'few'] as const, 'all'),
    full: on('phases of 120, 120 and 240 seconds, as in the talk, instead of 10, 20 and 40'),
    bare: optional(whole('seconds without sockets', 0)),
    idle: optional(whole('seconds after all sockets have connected', 0)),
    pace: optional(whole('seconds of the closed loop that measures the delivered rate; default: 10', 0)),
    flood: optional(whole('seconds of writing; the drain follows', 0)),
    times: optional(whole('records that the flood writes, as a multiple of the delivered rate; default: 2', 0)),
    ahead: optional(whole('floods by a closed loop with this many records in flight; excludes --pace and --times', 0)),
    flow: choice('flow control', ['on', 'off'] as const, 'on'),
    producer: choice('kafkajs writes in this process', ['kcat', 'kafkajs'] as const, 'kcat'),
    concurrency: whole('concurrent writers, each with its own partition', 3),
  },
  out: 'story',
  packages: ['ws', 'graphql', 'kafkajs', 'ioredis'],
  notes: `With several --pods the results are <out>-<pods>. --ladder --help: the steps from the talk's baseline to crier; --scenario storm --help:
a crowd at a busy pod.

Exits with 1 when a record did not reach every socket exactly once and in partition order, or a bound was missed.`,
  run: async ({ flags, name, scope, signal, say }) => {
    const { sockets, concurrency: writerCount, ahead, pods } = flags;
    for (const flag of ['pace', 'times'] as const)
      if (ahead !== undefined && flags[flag] !== undefined)
        throw new Error(`--${flag}: cannot be combined with --ahead`);
    const repeated = pods.find((one, i) => pods.indexOf(one) !== i);
    if (repeated !== undefined) throw new Error(`--pods: "${repeated}" is named twice`);
    const defaults = flags.full ? FULL_PHASES : SHORT_PHASES;
    const phases = {
      bareSeconds: flags.bare ?? defaults.bareSeconds,
      idleSeconds: flags.idle ?? defaults.idleSeconds,
      floodSeconds: flags.flood ?? defaults.floodSeconds,
    };
    const openLoop = ahead === undefined ? { paceSeconds: flags.pace ?? 10, times: flags.times ?? 2 } : undefined;
    const stack = await startStack(scope, say);
    const hasKcat = stack.hasKcat && flags.producer === 'kcat';
    const query = SELECTIONS[flags.fields];
    const load = { sockets, writerCount, partitions: writerCount, query, ahead, openLoop, hasKcat };
    const onSample = (sample: StoryResult['samples'][number]) => say(sampleLine(sample));
    for (const podSet of pods.map(podSetOf)) {
      const set = flags.flow === 'on' ? podSet : withSettings(podSet, { DISABLE: 'flow-control' });
      const result = await runStory(set, phases, { ...stack, ...load, signal, say, onSample }, scope);
      const { samples, ...rest } = result;
      const report = {
        intro: remarks(result).join('\n\n'),
        sections: tablesOf(result),
        success: 'Every record reached every socket, within every bound.',
        faults: [...result.faults, ...missedBounds(result.openLoop?.bounds ?? [])].map(
          (fault) => `${result.title}: ${fault}`,
        ),
        data: { ...rest, spreads: phaseSpreads(samples) } satisfies StoryFigures,
        svg: storyPicture(result),
      };
      say(remarks(result).join('\n'));
      const conditions = {
        ...conditionsOf(),
        pods: result.title,
        command: `npm run loadtest -- ${process.argv.slice(3).join(' ')}`,
      };
      const code = await publish(report, {
        command: 'loadtest',
        name: pods.length > 1 ? `${name}-${podSet.name}` : name,
        conditions,
      });
      process.exitCode ||= code;
    }
    return undefined;
  },
});
