import { setTimeout as delay } from 'node:timers/promises';
import { auctionDocument } from '../fanout/auction.ts';
import { startRemote } from '../processes/process-call.ts';
import type { Remote } from '../processes/process-call.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { Scope } from '../runner/scope.ts';
import { BacklogWatch } from './backlog/backlog-watch.ts';
import type { StoryClient } from './client/client.ts';
import { gcPercent, heapFigures } from './figures.ts';
import { AUCTION_ID, readCopies } from './flood/copies.ts';
import { playClosedLoop, playOpenLoop } from './flood/flood-phases.ts';
import type { OpenLoop } from './flood/flood-phases.ts';
import { recordsAhead, warmUp } from './flood/flood.ts';
import { Lanes } from './flood/lanes.ts';
import { closeWriters, startWriters } from './flood/record-writer.ts';
import { TopicEnd, createStoryTopics } from './flood/topic.ts';
import type { PodSet } from './pods/pod-set.ts';
import { RunningPods } from './pods/running-pods.ts';
import type { PhaseName, Phases, StoryResult, StorySample } from './result.ts';
import { Sampler } from './sampler.ts';

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
  readonly signal: AbortSignal;
  /** About once a second. */
  readonly onSample?: (sample: StorySample) => void;
  /** Receives a line of progress. */
  readonly say?: (line: string) => void;
  /** Awaited when all sockets have connected, before `idleSeconds` begin. */
  readonly onConnected?: (pod: ServerProcess) => Promise<unknown>;
  /** Awaited when a phase begins, for profilers. At the flood's begin every socket is live. */
  readonly onPhase?: (phase: PhaseName, pod: ServerProcess) => Promise<void>;
  /** Awaited when the last record has reached every socket, before the sockets are closed. */
  readonly onDrained?: (pod: ServerProcess) => Promise<void>;
}

/** Longest wait for the last records after the writers have stopped, in s; a larger backlog gets more. */
const DRAIN_SECONDS = 180;
const SETTLE_MS = 300;

/**
 * Runs the phases on a set of pods: bare, `sockets` idle sockets, flood. All writers share one topic, so one Kafka runs one story at a
 * time. All processes and connections have ended when the promise settles.
 * @throws Error when a pod does not start, refuses a socket or exits; the signal's reason. Losses are `faults` of the result.
 */
export async function runStory(
  podSet: PodSet,
  phases: Phases,
  options: StoryOptions,
  outer: Scope,
): Promise<StoryResult> {
  const scope = new Scope();
  outer.after(() => scope.close());
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  try {
    return await play(podSet, phases, { ...options, signal }, scope, failure);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    const reason = (failure.signal.reason ?? error) as Error;
    throw new Error(`${podSet.title}: ${reason.message}`, { cause: reason });
  } finally {
    await scope.close();
  }
}

async function play(
  podSet: PodSet,
  phases: Phases,
  options: StoryOptions,
  scope: Scope,
  failure: AbortController,
): Promise<StoryResult> {
  const { kafkaBrokers, redisUrl, partitions = 1, openLoop, sockets, writerCount, isPerUser = false, signal } = options;
  const { say = () => undefined } = options;
  await createStoryTopics(kafkaBrokers, partitions);
  const pods = new RunningPods(podSet, scope);
  await pods.start(options, signal);
  const client: Remote<StoryClient> = startRemote<StoryClient>('story/client/client.js', scope);
  const writers = await startWriters({ ...options, partitions });
  scope.after(() => closeWriters(writers));
  const topicEnd = new TopicEnd(kafkaBrokers);
  await topicEnd.start();
  scope.after(() => topicEnd.close());
  const backlog = openLoop && new BacklogWatch({ redisUrl, pods, client, topicEnd });
  await backlog?.start();
  scope.after(() => backlog?.close());
  const sampler = new Sampler({
    pod: pods.first,
    client,
    count: async () => (backlog ? backlog.sample() : { recordsConsumed: (await pods.count()).recordsConsumed }),
    onSample: (sample) => options.onSample?.(sample),
    onFailure: (error) => failure.abort(error),
  });
  scope.after(() => sampler.close());
  const enter = async (phase: PhaseName) => {
    sampler.enter(phase);
    await options.onPhase?.(phase, pods.first);
  };
  const wait = (seconds: number) => delay(seconds * 1000, undefined, { signal });
  await enter('bare');
  await wait(phases.bareSeconds);

  await enter('idle');
  const connectedAt = performance.now();
  const { query = auctionDocument(isPerUser ? 'viewer' : undefined) } = options;
  const { ports } = pods;
  await client.connect({ ports, sockets, query, auctionId: AUCTION_ID, isPerUser, lanes: writerCount, partitions });
  const connectMs = performance.now() - connectedAt;
  await options.onConnected?.(pods.first);
  await wait(phases.idleSeconds);
  const copies = readCopies();
  const emptyEnd = await topicEnd.read();
  const { messageBytes, written } = await warmUp(client, writers.slice(0, partitions), copies, signal);
  const firstOffset = emptyEnd + written;
  await topicEnd.waitFor(firstOffset, signal);
  await wait(SETTLE_MS / 1000);
  pods.slowDown();

  const stage = {
    ...{ pods, client, sampler, topicEnd, writers, copies, firstOffset, sockets, signal, enter, say },
    ...{ lanes: new Lanes(writerCount), seconds: phases.floodSeconds, drainSeconds: DRAIN_SECONDS },
  };
  const flooded =
    openLoop && backlog
      ? await playOpenLoop(stage, openLoop, backlog, podSet.mustKeepPace)
      : await playClosedLoop(stage, options.ahead ?? recordsAhead(sockets));
  const spans = sampler.close();
  await options.onDrained?.(pods.first);
  return {
    ...{
      pod: podSet.name,
      title: podSet.title,
      sockets,
      phases: spans,
      samples: sampler.samples,
      connectMs,
      messageBytes,
    },
    ...{ flood: flooded.figures, openLoop: flooded.openLoop, clientCpuPercent: flooded.clientCpuPercent },
    heap: heapFigures(sampler.samples),
    gcPercent: gcPercent(sampler.samples.filter(({ phase }) => phase === 'flood')),
    producer: options.hasKcat ? 'kcat' : 'kafkajs',
    faults: flooded.faults,
  };
}
