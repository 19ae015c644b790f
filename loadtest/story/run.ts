import { setTimeout as delay } from 'node:timers/promises';
import { auctionDocument } from '../fanout/auction.ts';
import { startStoryClient } from './client-calls.ts';
import type { StoryClient } from './client-calls.ts';
import { AUCTION_ID, readCopies } from './copies.ts';
import type { Copies } from './copies.ts';
import { faultsOf, gcPercent, heapFigures } from './figures.ts';
import { drain, pacedFlood, recordsAhead, warmUp } from './flood.ts';
import { Lanes } from './lanes.ts';
import type { PodProcess } from './pod-process.ts';
import { StoryPods } from './pods.ts';
import { closeWriters, startWriters } from './record-writer.ts';
import type { RecordWriter } from './record-writer.ts';
import type { FloodFigures, PhaseName, Phases, StoryResult, StorySample } from './result.ts';
import { Sampler } from './sampler.ts';
import { TopicEnd, createStoryTopics } from './topic.ts';
import type { Topology } from './topology.ts';

export interface StoryOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly sockets: number;
  /** Writers that flood at the same time. */
  readonly loops: number;
  /** Whether the writers are kcat, or kafkajs in this process. */
  readonly hasKcat: boolean;
  /** Of the topic, where it is not there yet. Default 1: then one warm-up record that arrives shows that all of it is consumed. */
  readonly partitions?: number;
  /** Records that are on their way to the slowest socket at a time. Default: `recordsAhead()`. */
  readonly ahead?: number | undefined;
  /** Longest wait for the last records, after producing has stopped. Default 180. */
  readonly drainSeconds?: number;
  readonly signal: AbortSignal;
  /** About once a second. */
  readonly onSample?: (sample: StorySample) => void;
  /** Awaited when all sockets have connected, before the seconds of the idle phase. */
  readonly onConnected?: (pod: PodProcess) => Promise<unknown>;
  /** Awaited when a phase begins: for profilers. The flood's comes when every socket is live. */
  readonly onPhase?: (phase: PhaseName, pod: PodProcess) => Promise<void>;
  /** Awaited when the last record has reached every socket, before the sockets are closed. */
  readonly onDrained?: (pod: PodProcess) => Promise<void>;
}

interface Stage {
  readonly pods: StoryPods;
  readonly client: StoryClient;
  readonly sampler: Sampler;
  readonly topicEnd: TopicEnd;
  readonly writers: readonly RecordWriter[];
  readonly signal: AbortSignal;
  readonly enter: (phase: PhaseName) => Promise<void>;
}

const DEFAULT_DRAIN_SECONDS = 180;
const SETTLE_MS = 300;

/**
 * Drives pods through the three phases: bare, `sockets` idle sockets, flood. All writers write one topic, so one story runs at a
 * time on a Kafka. Nothing of it is left when the promise settles.
 * @throws Error when a pod does not start, refuses a socket or ends, and the signal's reason. Losses are `faults` of the result.
 */
export async function runStory(topology: Topology, phases: Phases, options: StoryOptions): Promise<StoryResult> {
  const { kafkaBrokers, partitions = 1 } = options;
  const stops: (() => Promise<unknown>)[] = [];
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  try {
    await createStoryTopics(kafkaBrokers, partitions);
    const pods = new StoryPods(topology.name);
    stops.push(() => pods.stop());
    await pods.start(topology, options, signal);
    const client = startStoryClient();
    stops.push(() => client.stop());
    const writers = await startWriters({ ...options, partitions });
    stops.push(() => closeWriters(writers));
    const topicEnd = new TopicEnd(kafkaBrokers);
    stops.push(() => topicEnd.close());
    await topicEnd.start();
    const sampler = new Sampler({
      pod: pods.first,
      client,
      count: () => pods.count(),
      onSample: (sample) => options.onSample?.(sample),
      onFailure: (error) => failure.abort(error),
    });
    stops.push(() => Promise.resolve(sampler.close()));
    const enter = async (phase: PhaseName) => {
      sampler.enter(phase);
      await options.onPhase?.(phase, pods.first);
    };
    return await playPhases(topology, phases, options, { pods, client, sampler, topicEnd, writers, signal, enter });
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const reason = (failure.signal.reason ?? error) as Error;
    throw new Error(`${topology.title}: ${reason.message}`, { cause: reason });
  } finally {
    await Promise.all(stops.toReversed().map((stop) => stop()));
  }
}

async function playPhases(
  topology: Topology,
  phases: Phases,
  options: StoryOptions,
  stage: Stage,
): Promise<StoryResult> {
  const { client, sampler, topicEnd, signal, enter } = stage;
  const { sockets, loops, partitions = 1 } = options;
  const wait = (seconds: number) => delay(seconds * 1000, undefined, { signal });
  signal.throwIfAborted();
  await enter('bare');
  await wait(phases.bareSeconds);

  await enter('idle');
  const connectedAt = performance.now();
  const { ports } = stage.pods;
  await client.connect({ ports, sockets, query: auctionDocument(), auctionId: AUCTION_ID, lanes: loops, partitions });
  const connectMs = performance.now() - connectedAt;
  await options.onConnected?.(stage.pods.first);
  await wait(phases.idleSeconds);
  const copies = readCopies();
  const emptyEnd = await topicEnd.read();
  const { messageBytes, written } = await warmUp(client, stage.writers.slice(0, partitions), copies, signal);
  await topicEnd.waitFor(emptyEnd + written, signal);
  await delay(SETTLE_MS, undefined, { signal });
  stage.pods.slowDown();

  const { figures, clientCpuPercent, faults } = await floodAndDrain(stage, {
    copies,
    lanes: new Lanes(loops),
    ahead: options.ahead ?? recordsAhead(sockets),
    seconds: phases.floodSeconds,
    drainSeconds: options.drainSeconds ?? DEFAULT_DRAIN_SECONDS,
    firstOffset: emptyEnd + written,
  });
  const spans = sampler.close();
  await options.onDrained?.(stage.pods.first);
  return {
    pod: topology.name,
    title: topology.title,
    sockets,
    phases: spans,
    samples: sampler.samples,
    connectMs,
    flood: figures,
    heap: heapFigures(sampler.samples),
    messageBytes,
    clientCpuPercent,
    gcPercent: gcPercent(sampler.samples.filter(({ phase }) => phase === 'flood')),
    producer: options.hasKcat ? 'kcat' : 'kafkajs',
    faults,
  };
}

interface FloodOptions {
  readonly copies: Copies;
  readonly lanes: Lanes;
  readonly ahead: number;
  readonly seconds: number;
  readonly drainSeconds: number;
  /** Where the flood begins in the topic. */
  readonly firstOffset: number;
}

async function floodAndDrain(stage: Stage, options: FloodOptions) {
  const { client, writers, topicEnd, signal, enter } = stage;
  await enter('flood');
  const before = await readCounters(stage);
  await pacedFlood({ client, writers, signal, ...options }, options.ahead);
  const after = await readCounters(stage);

  await enter('drain');
  const writerFaults = await closeWriters(writers);
  const produced = (await topicEnd.read()) - options.firstOffset;
  await drain(client, produced, options.drainSeconds, signal);
  const drainMs = performance.now() - after.at;
  // What comes now was not expected.
  await delay(SETTLE_MS, undefined, { signal });
  const accounts = await client.accounts(options.lanes.counts);
  const durationMs = after.at - before.at;
  const figures: FloodFigures = {
    durationMs,
    received: after.records - before.records,
    sent: after.delivered - before.delivered,
    produced,
    drainMs,
    delivered: accounts.delivered,
  };
  return {
    figures,
    clientCpuPercent: ((after.clientCpuMs - before.clientCpuMs) / durationMs) * 100,
    faults: [...writerFaults, ...faultsOf({ written: options.lanes.total, produced, accounts })],
  };
}

/** The pods' counters come when they answer, the client's at once. */
async function readCounters({ pods, client }: Stage) {
  const at = performance.now();
  const [{ recordsConsumed: records }, { delivered, cpuMs: clientCpuMs }] = await Promise.all([
    pods.count(),
    client.progress(),
  ]);
  return { at, records, delivered, clientCpuMs };
}
