import { setTimeout as delay } from 'node:timers/promises';
import type { BacklogWatch } from '../backlog/backlog-watch.ts';
import { boundsOf } from '../backlog/bounds.ts';
import { faultsOf } from '../figures.ts';
import { drain, openLoopFlood, closedLoopFlood, recordsAhead } from './flood.ts';
import type { FloodPlan } from './flood.ts';
import type { RunningPods } from '../pods/running-pods.ts';
import { closeWriters } from './record-writer.ts';
import type { PhaseName } from '../result.ts';
import type { Sampler } from '../sampler.ts';
import type { TopicEnd } from './topic.ts';

/** What the phases of a flood need. Every socket is live. */
export interface FloodStage extends FloodPlan {
  readonly pods: RunningPods;
  readonly sampler: Sampler;
  readonly topicEnd: TopicEnd;
  /** Number of records in the topic before the first copy. */
  readonly firstOffset: number;
  readonly sockets: number;
  /** Longest wait for the last records after the writers have stopped. */
  readonly drainSeconds: number;
  readonly enter: (phase: PhaseName) => Promise<void>;
  /** Receives a line of progress. */
  readonly say: (line: string) => void;
}

export interface OpenLoop {
  /** Duration of the pace phase, which decides the rate of the flood. */
  readonly paceSeconds: number;
  /** Rate of the flood, as a multiple of the pace phase's delivered rate. */
  readonly times: number;
}

const SETTLE_MS = 300;

/** First share of the pace phase that does not count: V8 compiles, and the flow-control window grows. */
const PACE_WARM_UP_SHARE = 0.4;
/** Least number of records in flight in the pace phase. */
const MIN_PACE_AHEAD = 64;

/** Runs a closed-loop flood and its drain. */
export async function playClosedLoop(stage: FloodStage, ahead: number) {
  const window = await measureWindow(stage, (plan) => closedLoopFlood(plan, ahead));
  return { ...(await reconcile(stage, window, stage.drainSeconds)), openLoop: undefined };
}

/** Runs the pace phase (a closed loop), an open-loop flood and its drain. */
export async function playOpenLoop(
  stage: FloodStage,
  { paceSeconds, times }: OpenLoop,
  backlog: BacklogWatch,
  mustKeepPace: boolean,
) {
  const { pods, client, topicEnd, lanes, sockets, say } = stage;
  await backlog.followPublishes();
  await stage.enter('pace');
  const pacePerSecond = await measurePace(stage, paceSeconds);
  const firstRate = Math.ceil((pacePerSecond / sockets) * times);
  say(
    `The pace phase delivered ${Math.round(pacePerSecond / sockets)} records a second to every socket; the flood writes ${firstRate} a ` +
      `second, regardless of deliveries.`,
  );
  await backlog.resetAges();
  let writtenPerSecond = firstRate;
  const window = await measureWindow(stage, async (plan) => {
    writtenPerSecond = await openLoopFlood(plan, firstRate);
  });
  const [inKafka, { least = 0 }] = await Promise.all([topicEnd.lag(pods.group), client.progress()]);
  const undelivered = lanes.total - least;
  const sentPerSecond = (window.sent / window.durationMs) * 1000;
  const expectedSeconds = Math.ceil((undelivered * sockets) / sentPerSecond);
  say(`${undelivered} records wait, ${inKafka} of them in Kafka; at the flood's rate they need ${expectedSeconds} s.`);

  const { closed, ...flooded } = await reconcile(stage, window, Math.max(stage.drainSeconds, 3 * expectedSeconds));
  const figures = { pacePerSecond, writtenPerSecond, undelivered, inKafka, age: await backlog.age() };
  const { samples } = stage.sampler;
  const bounds = boundsOf({ ...figures, samples, sentPerSecond, closed, mustKeepPace });
  return { ...flooded, openLoop: { ...figures, bounds } };
}

/**
 * Messages a second that reach sockets in a closed loop. Resolves when all records have arrived. Takes longer than `seconds` on a machine so
 * busy that nothing arrives in that time.
 */
async function measurePace(stage: FloodStage, seconds: number): Promise<number> {
  const { client, lanes, sockets, drainSeconds, signal, say } = stage;
  const ahead = Math.max(MIN_PACE_AHEAD, recordsAhead(sockets));
  await closedLoopFlood({ ...stage, seconds: seconds * PACE_WARM_UP_SHARE }, ahead);
  const from = performance.now();
  const before = await client.progress();
  let after = before;
  while (after.delivered === before.delivered && performance.now() - from < drainSeconds * 1000) {
    await closedLoopFlood({ ...stage, seconds: seconds * (1 - PACE_WARM_UP_SHARE) }, ahead);
    after = await client.progress();
  }
  const perSecond = ((after.delivered - before.delivered) / (performance.now() - from)) * 1000;
  if (perSecond === 0 || !(await drain(client, lanes.total, { seconds: drainSeconds, signal, say }))) {
    throw new Error('the records of the pace phase did not reach every socket');
  }
  return perSecond;
}

type FloodWindow = Awaited<ReturnType<typeof measureWindow>>;

async function measureWindow(stage: FloodStage, flood: (plan: FloodPlan) => Promise<void>) {
  await stage.enter('flood');
  const before = await readCounters(stage);
  await flood(stage);
  const after = await readCounters(stage);
  const durationMs = after.at - before.at;
  return {
    /** `performance.now()` at its end. */
    endedAt: after.at,
    durationMs,
    received: after.records - before.records,
    sent: after.delivered - before.delivered,
    clientCpuPercent: ((after.clientCpuMs - before.clientCpuMs) / durationMs) * 100,
  };
}

/** Busy pods answer late; the client answers at once. */
async function readCounters({ pods, client }: FloodStage) {
  const at = performance.now();
  const [{ recordsConsumed: records }, { delivered, cpuMs: clientCpuMs }] = await Promise.all([
    pods.count(),
    client.progress(),
  ]);
  return { at, records, delivered, clientCpuMs };
}

/** Waits for the written records and compares them with the delivered ones. */
async function reconcile(stage: FloodStage, window: FloodWindow, drainSeconds: number) {
  const { client, writers, topicEnd, lanes, signal, say } = stage;
  await stage.enter('drain');
  const writerFaults = await closeWriters(writers);
  const produced = (await topicEnd.read()) - stage.firstOffset;
  await drain(client, produced, { seconds: drainSeconds, signal, say });
  const drainMs = performance.now() - window.endedAt;
  // Duplicates can still arrive.
  await delay(SETTLE_MS, undefined, { signal });
  const counted = await client.reconcile(lanes.counts);
  const { durationMs, received, sent, clientCpuPercent } = window;
  return {
    figures: { durationMs, received, sent, produced, drainMs, delivered: counted.delivered },
    clientCpuPercent,
    closed: Object.values(counted.closed).reduce((sum, sockets) => sum + sockets, 0),
    faults: [...writerFaults, ...faultsOf({ written: lanes.total, produced, counted })],
  };
}
