import { setTimeout as delay } from 'node:timers/promises';
import type { BacklogWatch } from '../backlog/backlog-watch.ts';
import { boundsOf } from '../backlog/bounds.ts';
import type { StoryClient } from '../client/client-calls.ts';
import type { Copies } from './copies.ts';
import { faultsOf } from '../figures.ts';
import { drain, freeFlood, pacedFlood, recordsAhead } from './flood.ts';
import type { FloodPlan } from './flood.ts';
import type { Lanes } from './lanes.ts';
import type { StoryPods } from '../pods/running-pods.ts';
import { closeWriters } from './record-writer.ts';
import type { RecordWriter } from './record-writer.ts';
import type { FloodFigures, FreeFloodFigures, PhaseName } from '../result.ts';
import type { Sampler } from '../sampler.ts';
import type { TopicEnd } from './topic.ts';

/** What the phases of a flood are played with. Every socket is live. */
export interface FloodStage {
  readonly pods: StoryPods;
  readonly client: StoryClient;
  readonly sampler: Sampler;
  readonly topicEnd: TopicEnd;
  readonly writers: readonly RecordWriter[];
  readonly copies: Copies;
  readonly lanes: Lanes;
  /** Where the first copy is in the topic. */
  readonly firstOffset: number;
  readonly sockets: number;
  readonly seconds: number;
  /** Longest wait for the last records, after producing has stopped. */
  readonly drainSeconds: number;
  readonly signal: AbortSignal;
  readonly enter: (phase: PhaseName) => Promise<void>;
  /** Receives a line of progress. */
  readonly note: (line: string) => void;
}

export interface FreeFlood {
  /** Of the closed loop, whose pace says how much is written. */
  readonly paceSeconds: number;
  /** Records written in a second, of those that the closed loop brought to every socket in one. */
  readonly times: number;
}

export interface Flooded {
  readonly figures: FloodFigures;
  readonly free: FreeFloodFigures | undefined;
  readonly clientCpuPercent: number;
  readonly faults: readonly string[];
}

const SETTLE_MS = 300;

/** Of the closed loop: code that is not compiled yet, a window that grows. */
const PACE_WARM_UP_SHARE = 0.4;
/** Records on their way in the closed loop before a free flood, at least. */
const LEAST_PACE_AHEAD = 64;

/** A flood that is the closed loop, and its drain. */
export async function playPacedFlood(stage: FloodStage, ahead: number): Promise<Flooded> {
  const window = await measureWindow(stage, (plan) => pacedFlood(plan, ahead));
  return { ...(await reconcile(stage, window, stage.drainSeconds)), free: undefined };
}

/** The closed loop to its end, then a flood that waits for nobody, and its drain. */
export async function playFreeFlood(
  stage: FloodStage,
  { paceSeconds, times }: FreeFlood,
  backlog: BacklogWatch,
  isCompared: boolean,
): Promise<Flooded> {
  const { pods, client, topicEnd, lanes, sockets, note } = stage;
  await backlog.followPublishes();
  await stage.enter('pace');
  const pacePerSecond = await measurePace(stage, paceSeconds);
  const firstRate = Math.ceil((pacePerSecond / sockets) * times);
  note(
    `The closed loop brought ${Math.round(pacePerSecond / sockets)} records a second to every socket; the flood writes ${firstRate} a ` +
      `second, whatever arrives.`,
  );
  await backlog.begin();
  let writtenPerSecond = firstRate;
  const window = await measureWindow(stage, async (plan) => {
    writtenPerSecond = await freeFlood(plan, firstRate);
  });
  const [inKafka, { least = 0 }] = await Promise.all([topicEnd.lag(pods.group), client.progress()]);
  const undelivered = lanes.total - least;
  const sentPerSecond = (window.sent / window.durationMs) * 1000;
  const expectedSeconds = Math.ceil((undelivered * sockets) / sentPerSecond);
  note(`${undelivered} records wait, ${inKafka} of them in Kafka; at the flood's pace they need ${expectedSeconds} s.`);

  const { closed, ...flooded } = await reconcile(stage, window, Math.max(stage.drainSeconds, 3 * expectedSeconds));
  const figures = { pacePerSecond, writtenPerSecond, undelivered, inKafka, age: await backlog.age() };
  const { samples } = stage.sampler;
  const bounds = boundsOf({ ...figures, samples, sentPerSecond, closed, isCompared });
  return { ...flooded, free: { ...figures, bounds } };
}

/** Messages that reach sockets in a second of the closed loop. Resolves when all have arrived. */
async function measurePace(stage: FloodStage, seconds: number): Promise<number> {
  const { client, lanes, sockets, drainSeconds, signal, note } = stage;
  const ahead = Math.max(LEAST_PACE_AHEAD, recordsAhead(sockets));
  await pacedFlood({ ...stage, seconds: seconds * PACE_WARM_UP_SHARE }, ahead);
  const from = performance.now();
  const before = await client.progress();
  await pacedFlood({ ...stage, seconds: seconds * (1 - PACE_WARM_UP_SHARE) }, ahead);
  const after = await client.progress();
  const perSecond = ((after.delivered - before.delivered) / (performance.now() - from)) * 1000;
  if (perSecond === 0 || !(await drain(client, lanes.total, { seconds: drainSeconds, signal, note }))) {
    throw new Error('the records of the closed loop did not reach every socket');
  }
  return perSecond;
}

interface FloodWindow {
  /** When it ended. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly received: number;
  readonly sent: number;
  readonly clientCpuPercent: number;
}

async function measureWindow(stage: FloodStage, flood: (plan: FloodPlan) => Promise<void>): Promise<FloodWindow> {
  await stage.enter('flood');
  const before = await readCounters(stage);
  await flood(stage);
  const after = await readCounters(stage);
  const durationMs = after.at - before.at;
  return {
    endedAt: after.at,
    durationMs,
    received: after.records - before.records,
    sent: after.delivered - before.delivered,
    clientCpuPercent: ((after.clientCpuMs - before.clientCpuMs) / durationMs) * 100,
  };
}

/** The pods' counters come when they answer, the client's at once. */
async function readCounters({ pods, client }: FloodStage) {
  const at = performance.now();
  const [{ recordsConsumed: records }, { delivered, cpuMs: clientCpuMs }] = await Promise.all([
    pods.count(),
    client.progress(),
  ]);
  return { at, records, delivered, clientCpuMs };
}

/** Waits until what was written has arrived, and holds it against what was written. */
async function reconcile(stage: FloodStage, window: FloodWindow, drainSeconds: number) {
  const { client, writers, topicEnd, lanes, signal, note } = stage;
  await stage.enter('drain');
  const writerFaults = await closeWriters(writers);
  const produced = (await topicEnd.read()) - stage.firstOffset;
  await drain(client, produced, { seconds: drainSeconds, signal, note });
  const drainMs = performance.now() - window.endedAt;
  // What comes now was not expected.
  await delay(SETTLE_MS, undefined, { signal });
  const accounts = await client.accounts(lanes.counts);
  const { durationMs, received, sent, clientCpuPercent } = window;
  return {
    figures: { durationMs, received, sent, produced, drainMs, delivered: accounts.delivered },
    clientCpuPercent,
    closed: Object.values(accounts.closed).reduce((sum, sockets) => sum + sockets, 0),
    faults: [...writerFaults, ...faultsOf({ written: lanes.total, produced, accounts })],
  };
}
