import { randomBytes } from 'node:crypto';
import { channelName } from '../src/bus/channel.ts';
import { createTopics } from '../stack/topics.ts';
import { graphFolder } from './fanout/graph-variant.ts';
import { CRIER } from './processes/server-process.ts';
import type { ServerOptions } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { PartitionWatch } from './rebalance/partition-watch.ts';
import { SteadyWriter } from './rebalance/steady-writer.ts';
import { stepFigures } from './rebalance/step-figures.ts';
import type { Step, StepFigures } from './rebalance/step-figures.ts';
import { WorkerGroup } from './rebalance/worker-group.ts';
import { base, on, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import type { Run } from './runner/scenario.ts';
import { Scope } from './runner/scope.ts';
import { median } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';
import { startStack } from './story/stack.ts';
import type { StoryStack } from './story/stack.ts';

const STEPS = ['leave', 'join'] as const;
/** Before each step, to compare with. */
const QUIET_MS = 4000;

const flags = {
  workers: whole('workers of the group', 4),
  partitions: whole('partitions of the topic', 48),
  rate: whole('records a second for each partition', 10),
  restarts: whole('restarts, each of the next worker', 4),
  base: base('its workers are restarted before'),
  stock: on('whether workers of stock kafkajs are restarted, too'),
};

/** Workers that are restarted. */
interface Side {
  /** Heads its column. */
  readonly title: string;
  /** `topic` is empty when the run begins. */
  readonly server: (topic: Topic) => ServerOptions;
}

interface Topic extends StoryStack {
  /** Of the topic, the group and the channels. */
  readonly name: string;
  readonly channel: string;
  readonly graph: string;
}

export const scenario = defineScenario({
  name: 'rebalance',
  question: 'Restarts workers one by one: which partitions move, and how long are those silent that keep their owner?',
  flags,
  packages: ['kafkajs', 'ioredis'],
  notes: `A silence is the longest time between two messages of a partition in Redis, less the same before the step.
Exits with 1 if crier moves a partition that the restarted worker neither had nor gets.`,
  run: async (run) => {
    const { flags, scope, say } = run;
    const stack = await startStack(scope, say);
    const sides: readonly Side[] = [
      ...(flags.base === undefined ? [] : [crierSide('crier before', flags.base)]),
      crierSide('crier', CRIER),
      ...(flags.stock ? [STOCK] : []),
    ];
    const results: { title: string; steps: readonly StepFigures[] }[] = [];
    for (const side of sides) results.push({ title: side.title, steps: await restartEach(side, stack, run) });
    const foreign = results.find(({ title }) => title === 'crier')!.steps.reduce((sum, step) => sum + step.foreign, 0);
    return {
      intro: `Median and largest of ${flags.restarts} restarts. A silence is the longest time between two messages of a partition in Redis, less the same before
the step; the workers share a core.`,
      sections: [{ table: tableOf(results) }],
      success: 'Only partitions moved that the restarted worker had, or gets.',
      faults: foreign === 0 ? [] : [`${foreign} partitions moved that the restarted worker neither had nor gets`],
      data: Object.fromEntries(results.map(({ title, steps }) => [title, steps])),
    };
  },
});

function crierSide(title: string, script: string): Side {
  return {
    title,
    server: ({ name, graph, kafkaBrokers, redisUrl }) => ({
      script,
      nodeArguments: startArguments(),
      environment: {
        ...{ ROLE: 'worker', GRAPH: graph, LOG_LEVEL: 'error' },
        ...{ KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: name, KAFKA_DEAD_LETTER_TOPIC: `${name}-dead` },
        ...{ REDIS_URL: redisUrl, CHANNEL_PREFIX: `${name}:` },
      },
    }),
  };
}

const STOCK: Side = {
  title: 'stock kafkajs',
  server: ({ name, channel, kafkaBrokers, redisUrl }) => ({
    script: 'rebalance/stock-member.js',
    environment: {
      ...{ KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: name, TOPIC: name },
      ...{ REDIS_URL: redisUrl, CHANNEL: channel },
    },
  }),
};

async function restartEach(side: Side, stack: StoryStack, run: Run<typeof flags>): Promise<StepFigures[]> {
  const { flags, say, signal, pause } = run;
  const { workers, partitions, rate, restarts } = flags;
  const scope = new Scope();
  run.scope.after(() => scope.close());
  const name = `rebalance-${randomBytes(4).toString('hex')}`;
  const channel = channelName(`${name}:`, name, []);
  const schema = `type Subscription { written: Item @kafka(topic: "${name}") }\ntype Item { n: Int! }\n`;
  const graph = await graphFolder({ 'schema.graphql': schema }, scope);
  await createTopics(stack.kafkaBrokers, [
    { topic: name, numPartitions: partitions },
    { topic: `${name}-dead`, numPartitions: 1 },
  ]);
  const watch = new PartitionWatch(stack.redisUrl, channel, partitions);
  scope.after(() => watch.close());
  await watch.start();
  const server = side.server({ ...stack, name, channel, graph });
  const group = new WorkerGroup({ brokers: stack.kafkaBrokers, groupId: name, topic: name, server, signal }, scope);
  const names = Array.from({ length: workers }, (_, i) => `worker-${i}`);
  say(`${side.title}: starts ${workers} workers`);
  for (const worker of names) await group.join(worker);
  const writer = new SteadyWriter({ brokers: stack.kafkaBrokers, topic: name, partitions, rate });
  scope.after(() => writer.close());
  await writer.start();
  await watch.hasCaughtUp(signal);

  const observe = async (step: Step, restarted: string) => {
    const quietFrom = performance.now();
    await pause(QUIET_MS);
    const before = await group.owners();
    const from = performance.now();
    await group[step](restarted);
    await watch.hasCaughtUp(signal);
    const during = watch.silences(from, performance.now());
    const after = await group.owners();
    return stepFigures({ step, restarted, before, after, quiet: watch.silences(quietFrom, from), during });
  };
  const figures: StepFigures[] = [];
  for (let i = 0; i < restarts; i++) {
    const restarted = names[i % workers]!;
    for (const step of STEPS) {
      const one = await observe(step, restarted);
      figures.push(one);
      say(
        `${restarted}, ${step}: ${one.moved} moved, ${one.foreign} foreign; kept ones silent for ${one.keptMs | 0} ms`,
      );
    }
  }
  await scope.close();
  return figures;
}

/** A column for each side. */
function tableOf(results: readonly { readonly title: string; readonly steps: readonly StepFigures[] }[]): Cells[] {
  const row = (what: string, figure: (steps: readonly StepFigures[]) => string): Cells => [
    what,
    ...results.map(({ steps }) => figure(steps)),
  ];
  const medianAndMost = (values: readonly number[]) =>
    `${Math.round(median(values))} / ${Math.round(Math.max(...values))}`;
  const rowsOf = (step: Step, title: string) =>
    (
      [
        ['partitions moved', 'moved'],
        ['those that the restarted one neither had nor gets', 'foreign'],
        ['silence of those that stay, ms', 'keptMs'],
        ['silence of those that move, ms', 'movedMs'],
      ] as const
    ).map(([what, figure]) =>
      row(`${title}: ${what}`, (steps) =>
        medianAndMost(steps.filter((one) => one.step === step).map((one) => one[figure])),
      ),
    );
  return [
    ['median / largest', ...results.map(({ title }) => title)],
    ...rowsOf('leave', 'a worker leaves'),
    ...rowsOf('join', 'it joins'),
    row('longest silence before the step, ms', (steps) => medianAndMost(steps.map(({ quietMs }) => quietMs))),
  ];
}
