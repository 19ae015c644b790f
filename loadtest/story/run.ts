import { setTimeout as delay } from 'node:timers/promises';
import { auctionDocument } from '../fanout/auction.ts';
import { BacklogWatch } from './backlog/backlog-watch.ts';
import { startStoryClient } from './client/client-calls.ts';
import type { StoryClient } from './client/client-calls.ts';
import { AUCTION_ID, readCopies } from './flood/copies.ts';
import { gcPercent, heapFigures } from './figures.ts';
import { playOpenLoop, playClosedLoop } from './flood/flood-phases.ts';
import type { OpenLoop } from './flood/flood-phases.ts';
import { recordsAhead, warmUp } from './flood/flood.ts';
import { Lanes } from './flood/lanes.ts';
import type { PodProcess } from './pods/pod-process.ts';
import { RunningPods } from './pods/running-pods.ts';
import { closeWriters, startWriters } from './flood/record-writer.ts';
import type { RecordWriter } from './flood/record-writer.ts';
import type { PhaseName, Phases, StoryResult, StorySample } from './result.ts';
import { Sampler } from './sampler.ts';
import { TopicEnd, createStoryTopics } from './flood/topic.ts';
import type { PodSet } from './pods/pod-set.ts';

export interface StoryOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly sockets: number;
  /** Number of concurrent writers of the flood. */
  readonly writerCount: number;
  /** Whether kcat writes the records; otherwise kafkajs in this process. */
  readonly hasKcat: boolean;
  /** Partitions of the topic, if it does not exist. Default 1: one delivered warm-up record then proves that all are consumed. */
  readonly partitions?: number;
  /** The subscription. Default: all fields. */
  readonly query?: string;
  /** Whether each socket has a result of its own. Default: all have the same. */
  readonly isPerUser?: boolean;
  /** Records in flight to the slowest socket, in a closed-loop flood. Default: `recordsAhead()`. */
  readonly ahead?: number | undefined;
  /** Set: a pace phase, then an open-loop flood. Default: a closed-loop flood. */
  readonly openLoop?: OpenLoop | undefined;
  /** Longest wait for the last records after the writers have stopped. Default 180; a larger backlog gets more. */
  readonly drainSeconds?: number;
  readonly signal: AbortSignal;
  /** About once a second. */
  readonly onSample?: (sample: StorySample) => void;
  /** Receives a line of progress. */
  readonly onNote?: (line: string) => void;
  /** Awaited when all sockets have connected, before `idleSeconds` begin. */
  readonly onConnected?: (pod: PodProcess) => Promise<unknown>;
  /** Awaited when a phase begins, for profilers. At the flood's begin every socket is live. */
  readonly onPhase?: (phase: PhaseName, pod: PodProcess) => Promise<void>;
  /** Awaited when the last record has reached every socket, before the sockets are closed. */
  readonly onDrained?: (pod: PodProcess) => Promise<void>;
}

interface Stage {
  readonly pods: RunningPods;
  readonly client: StoryClient;
  readonly sampler: Sampler;
  readonly topicEnd: TopicEnd;
  readonly writers: readonly RecordWriter[];
  /** Set for an open-loop flood. */
  readonly backlog: BacklogWatch | undefined;
  readonly signal: AbortSignal;
  readonly enter: (phase: PhaseName) => Promise<void>;
}

const DEFAULT_DRAIN_SECONDS = 180;
const SETTLE_MS = 300;

/**
 * Runs the phases on a set of pods: bare, `sockets` idle sockets, flood. All writers share one topic, so one Kafka runs one story at a
 * time. All processes and connections have ended when the promise settles.
 * @throws Error when a pod does not start, refuses a socket or exits; the signal's reason. Losses are `faults` of the result.
 */
export async function runStory(podSet: PodSet, phases: Phases, options: StoryOptions): Promise<StoryResult> {
  const { kafkaBrokers, redisUrl, partitions = 1 } = options;
  const stops: (() => unknown)[] = [];
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  try {
    await createStoryTopics(kafkaBrokers, partitions);
    const pods = new RunningPods(podSet.name);
    stops.push(() => pods.stop());
    await pods.start(podSet, options, signal);
    const client = startStoryClient();
    stops.push(() => client.stop());
    const writers = await startWriters({ ...options, partitions });
    stops.push(() => closeWriters(writers));
    const topicEnd = new TopicEnd(kafkaBrokers);
    stops.push(() => topicEnd.close());
    await topicEnd.start();
    const backlog = options.openLoop && new BacklogWatch({ redisUrl, pods, client, topicEnd });
    stops.push(() => backlog?.close());
    await backlog?.start();
    const sampler = new Sampler({
      pod: pods.first,
      client,
      count: async () => (backlog ? backlog.sample() : { recordsConsumed: (await pods.count()).recordsConsumed }),
      onSample: (sample) => options.onSample?.(sample),
      onFailure: (error) => failure.abort(error),
    });
    stops.push(() => sampler.close());
    const enter = async (phase: PhaseName) => {
      sampler.enter(phase);
      await options.onPhase?.(phase, pods.first);
    };
    const stage = { pods, client, sampler, topicEnd, writers, backlog, signal, enter };
    return await playPhases(podSet, phases, options, stage);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const reason = (failure.signal.reason ?? error) as Error;
    throw new Error(`${podSet.title}: ${reason.message}`, { cause: reason });
  } finally {
    await Promise.all(stops.toReversed().map((stop) => stop()));
  }
}

async function playPhases(podSet: PodSet, phases: Phases, options: StoryOptions, stage: Stage): Promise<StoryResult> {
  const { pods, client, writers, sampler, topicEnd, backlog, signal, enter } = stage;
  const { sockets, writerCount, partitions = 1, isPerUser = false, openLoop } = options;
  const { query = auctionDocument(isPerUser ? 'viewer' : undefined) } = options;
  const wait = (seconds: number) => delay(seconds * 1000, undefined, { signal });
  signal.throwIfAborted();
  await enter('bare');
  await wait(phases.bareSeconds);

  await enter('idle');
  const connectedAt = performance.now();
  const { ports } = pods;
  const plan = { ports, sockets, query, auctionId: AUCTION_ID, isPerUser, lanes: writerCount, partitions };
  await client.connect(plan);
  const connectMs = performance.now() - connectedAt;
  await options.onConnected?.(pods.first);
  await wait(phases.idleSeconds);
  const copies = readCopies();
  const emptyEnd = await topicEnd.read();
  const { messageBytes, written } = await warmUp(client, writers.slice(0, partitions), copies, signal);
  const firstOffset = emptyEnd + written;
  await topicEnd.waitFor(firstOffset, signal);
  await delay(SETTLE_MS, undefined, { signal });
  pods.slowDown();

  const { drainSeconds = DEFAULT_DRAIN_SECONDS, onNote: note = () => undefined } = options;
  const floodPlan = {
    copies,
    lanes: new Lanes(writerCount),
    seconds: phases.floodSeconds,
    firstOffset,
    sockets,
    drainSeconds,
  };
  const floodStage = { ...stage, ...floodPlan, note };
  const flooded =
    openLoop && backlog
      ? await playOpenLoop(floodStage, openLoop, backlog, podSet.mustKeepPace)
      : await playClosedLoop(floodStage, options.ahead ?? recordsAhead(sockets));
  const spans = sampler.close();
  await options.onDrained?.(pods.first);
  return {
    pod: podSet.name,
    title: podSet.title,
    sockets,
    phases: spans,
    samples: sampler.samples,
    connectMs,
    flood: flooded.figures,
    openLoop: flooded.openLoop,
    heap: heapFigures(sampler.samples),
    messageBytes,
    clientCpuPercent: flooded.clientCpuPercent,
    gcPercent: gcPercent(sampler.samples.filter(({ phase }) => phase === 'flood')),
    producer: options.hasKcat ? 'kcat' : 'kafkajs',
    faults: flooded.faults,
  };
}
