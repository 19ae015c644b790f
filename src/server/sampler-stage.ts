import { EmbeddedTopics } from '../graph/embedded/embedded-topics.ts';
import { logMissingSamples } from '../graph/embedded/missing-samples.ts';
import { sampleProblem } from '../graph/embedded/sample-problem.ts';
import { Sampler } from '../graph/embedded/sampler.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { RecordPublisher } from '../kafka/record-publisher.ts';
import type { RoleServices, Worker } from './services.ts';

/** Publishes the records of the embedded topics, and appends the graph's sample records to them. */
export function createSampler(services: RoleServices, publisher: RecordPublisher): Worker {
  const { config, bus, embedded, graph, log } = services;
  const topics = embedded ?? new EmbeddedTopics();
  const logMissing = () => logMissingSamples(log, graph.current, { isFed: topics.isFed, names: config.names });
  const leased = new Set<string>();
  topics.connect(async (record, signal) => {
    const { topic, partition } = record;
    if (!leased.has(topic)) await bus.acquire({ topic, partition, position: -1 });
    leased.add(topic);
    await publisher.publish([record], signal);
  });
  const samplerOf = (of: Graph) =>
    of.samples &&
    new Sampler({
      samples: of.samples,
      problemOf: (record) => sampleProblem(record, of),
      intervalMs: config.SAMPLE_INTERVAL_MS,
      log,
      process: async ({ topic, key, value }, signal) => void (await topics.append(topic, { key, value }, signal)),
    });
  let status: 'starting' | 'started' | 'closed' = 'starting';
  const sampler = graph.derive(samplerOf(graph.current), {
    open: samplerOf,
    serve: async (next, former) => {
      logMissing();
      await former?.close();
      if (status === 'started') next?.start();
    },
  });
  logMissing();
  return {
    start: () => {
      status = 'started';
      sampler.current?.start();
    },
    close: async () => {
      status = 'closed';
      await sampler.current?.close();
    },
  };
}
