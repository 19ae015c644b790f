import { setTimeout as delay } from 'node:timers/promises';
import { auctionDocument } from '../fanout/auction.ts';
import { BacklogWatch } from './backlog/backlog-watch.ts';
import { startStoryClient } from './client/client-calls.ts';
import type { StoryClient } from './client/client-calls.ts';
import { AUCTION_ID, readCopies } from './flood/copies.ts';
import { gcPercent, heapFigures } from './figures.ts';
import { playFreeFlood, playPacedFlood } from './flood/flood-phases.ts';
import type { FreeFlood } from './flood/flood-phases.ts';
import { recordsAhead, warmUp } from './flood/flood.ts';
import { Lanes } from './flood/lanes.ts';
import type { PodProcess } from './pods/pod-process.ts';
import { StoryPods } from './pods/running-pods.ts';
import { closeWriters, startWriters } from './flood/record-writer.ts';
import type { RecordWriter } from './flood/record-writer.ts';
import type { PhaseName, Phases, StoryResult, StorySample } from './result.ts';
import { Sampler } from './sampler.ts';
import { TopicEnd, createStoryTopics } from './flood/topic.ts';
import type { Topology } from './pods/pod-set.ts';

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
  /** The subscription. Default: all fields. */
  readonly query?: string;
  /** Records that are on their way to the slowest socket at a time, in a closed loop. Default: `recordsAhead()`. */
  readonly ahead?: number | undefined;
  /** After a phase of the closed loop, the flood waits for nobody. Default: the flood is the closed loop. */
  readonly free?: FreeFlood | undefined;
  /** Longest wait for the last records, after producing has stopped. Default 180; a free flood may need more, and gets it. */
  readonly drainSeconds?: number;
  readonly signal: AbortSignal;
  /** About once a second. */
  readonly onSample?: (sample: StorySample) => void;
  /** Called with a line of progress. */
  readonly onNote?: (line: string) => void;
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
  /** Of a free flood. */
  readonly backlog: BacklogWatch | undefined;
  readonly signal: AbortSignal;
  readonly enter: (phase: PhaseName) => Promise<void>;
}

const DEFAULT_DRAIN_SECONDS = 180;
const SETTLE_MS = 300;

/**
 * Drives pods through the phases: bare, `sockets` idle sockets, flood. All writers write one topic, so one story runs at a time on a
 * Kafka. Nothing of it is left when the promise settles.
 * @throws Error when a pod does not start, refuses a socket or ends, and the signal's reason. Losses are `faults` of the result.
 */
export async function runStory(topology: Topology, phases: Phases, options: StoryOptions): Promise<StoryResult> {
  const { kafkaBrokers, redisUrl, partitions = 1 } = options;
  const stops: (() => unknown)[] = [];
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
    const backlog = options.free && new BacklogWatch({ redisUrl, pods, client, topicEnd });
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
    return await playPhases(topology, phases, options, stage);
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
  const { pods, client, writers, sampler, topicEnd, backlog, signal, enter } = stage;
  const { sockets, loops, partitions = 1, query = auctionDocument(), free } = options;
  const wait = (seconds: number) => delay(seconds * 1000, undefined, { signal });
  signal.throwIfAborted();
  await enter('bare');
  await wait(phases.bareSeconds);

  await enter('idle');
  const connectedAt = performance.now();
  const { ports } = pods;
  await client.connect({ ports, sockets, query, auctionId: AUCTION_ID, lanes: loops, partitions });
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
  const plan = { copies, lanes: new Lanes(loops), seconds: phases.floodSeconds, firstOffset, sockets, drainSeconds };
  const floodStage = { ...stage, ...plan, note };
  const flooded =
    free && backlog
      ? await playFreeFlood(floodStage, free, backlog, topology.isCompared)
      : await playPacedFlood(floodStage, options.ahead ?? recordsAhead(sockets));
  const spans = sampler.close();
  await options.onDrained?.(pods.first);
  return {
    pod: topology.name,
    title: topology.title,
    sockets,
    phases: spans,
    samples: sampler.samples,
    connectMs,
    flood: flooded.figures,
    free: flooded.free,
    heap: heapFigures(sampler.samples),
    messageBytes,
    clientCpuPercent: flooded.clientCpuPercent,
    gcPercent: gcPercent(sampler.samples.filter(({ phase }) => phase === 'flood')),
    producer: options.hasKcat ? 'kcat' : 'kafkajs',
    faults: flooded.faults,
  };
}
