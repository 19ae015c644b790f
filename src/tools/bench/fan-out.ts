import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../../base/errors.ts';
import type { Bench } from './arguments.ts';
import { watchLoad } from './client-load.ts';
import type { Load } from './client-load.ts';
import { Deliveries } from './bench-deliveries.ts';
import { Durations } from './durations.ts';
import type { Percentiles } from './durations.ts';
import type { Progress } from './progress.ts';
import { unlessStopped } from './stop.ts';
import { Subscriber } from './subscriber.ts';
import { MORE_FILES } from './trigger.ts';
import type { EventTrigger } from './trigger.ts';

/** Sockets that connect at the same time. */
const CONNECTING = 50;
/** What was under way when the measurement ended has this long to arrive. */
const REST_MS = 1000;
const POLL_MS = 5;
const REPORT_MS = 1000;
const TRIGGER_AGAIN_MS = 500;

export interface FanOut {
  readonly sockets: number;
  /** From the first socket to the last `subscribe` that the server has read. */
  readonly connectSeconds: number;
  readonly connectMs: Percentiles | undefined;
  readonly seconds: number;
  readonly events: number;
  readonly deliveries: number;
  readonly deliveriesPerSecond: number;
  /** From the first to the last socket that received an event. Undefined if events cannot be told apart. */
  readonly spreadMs: Percentiles | undefined;
  readonly latencyMs: Percentiles | undefined;
  /** Undefined as `spreadMs`. */
  readonly missing: number | undefined;
  readonly withErrors: number;
  /** Triggers after which not every socket received an event in time. */
  readonly incompleteTriggers: number;
  /** What went wrong on sockets, with the number of sockets. */
  readonly failures: Readonly<Record<string, number>>;
  readonly client: Load;
  readonly notes: readonly string[];
}

/** Subscribes on many sockets and counts what arrives. `stop` ends the time that is measured; before, it rejects. */
export async function measureFanOut(
  bench: Bench,
  trigger: EventTrigger | undefined,
  progress: Progress,
  stop: AbortSignal,
): Promise<FanOut> {
  const deliveries = new Deliveries(bench.sentAt);
  const subscribers: Subscriber[] = [];
  try {
    const connecting = await unlessStopped(stop, connectAll(bench, deliveries, subscribers, progress));
    progress.show('waiting until each socket has received an event');
    await unlessStopped(stop, firstEvents(bench, trigger, deliveries, subscribers));
    const silent = subscribers.filter(({ received }) => received === 0).length;
    const load = watchLoad();
    const startedAt = performance.now();
    deliveries.start();
    const incompleteTriggers = await count(bench, trigger, deliveries, progress, stop);
    deliveries.stop();
    if (deliveries.count === 0) expectLive(deliveries);
    const seconds = (performance.now() - startedAt) / 1000;
    const client = load();
    await delay(REST_MS);
    deliveries.known.settleAll();
    const { known, count: delivered, live } = deliveries;
    const areOwn = known.areOwn && subscribers.length > 1;
    const isTellable = !known.hasAlike && !areOwn;
    return {
      sockets: subscribers.length,
      ...connecting,
      seconds,
      events: isTellable ? deliveries.events : Math.round(delivered / (live || subscribers.length)),
      deliveries: delivered,
      deliveriesPerSecond: delivered / seconds,
      spreadMs: isTellable ? deliveries.spread.percentiles : undefined,
      latencyMs: deliveries.latency.percentiles,
      missing: isTellable ? deliveries.missing : undefined,
      withErrors: deliveries.withErrors,
      incompleteTriggers,
      failures: Object.fromEntries(deliveries.endings),
      client,
      notes: [...notesOf(deliveries, bench, areOwn, silent)],
    };
  } finally {
    await Promise.all(subscribers.map((subscriber) => subscriber.close()));
  }
}

async function connectAll(
  bench: Bench,
  deliveries: Deliveries,
  subscribers: Subscriber[],
  progress: Progress,
): Promise<Pick<FanOut, 'connectSeconds' | 'connectMs'>> {
  const startedAt = performance.now();
  const durations = new Durations();
  let left = bench.sockets;
  const connect = async () => {
    while (left-- > 0) {
      const begunAt = performance.now();
      const subscriber = new Subscriber(bench, deliveries);
      try {
        await subscriber.subscribe();
        deliveries.live++;
        subscribers.push(subscriber);
        progress.show(`${subscribers.length} of ${bench.sockets} sockets are subscribed`);
        durations.record(performance.now() - begunAt);
      } catch (error) {
        const { message } = error as Error;
        deliveries.endings.set(message, (deliveries.endings.get(message) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTING }, connect));
  if (subscribers.length === 0)
    throw new SetupError(`no socket could subscribe: ${[...deliveries.endings.keys()].join('; ')}`);
  return { connectSeconds: (performance.now() - startedAt) / 1000, connectMs: durations.percentiles };
}

/** Every socket receives an event before deliveries are counted, as far as that comes to pass within the timeout. */
async function firstEvents(
  { timeoutMs }: Bench,
  trigger: EventTrigger | undefined,
  deliveries: Deliveries,
  subscribers: readonly Subscriber[],
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const haveAll = () =>
    deliveries.live === 0 || subscribers.every(({ received }) => received > 0) || performance.now() > deadline;
  while (!haveAll()) {
    await trigger?.send();
    const again = performance.now() + (trigger ? TRIGGER_AGAIN_MS : timeoutMs);
    while (!haveAll() && performance.now() < again) await delay(POLL_MS);
  }
  expectLive(deliveries);
  if (deliveries.known.next === 0) {
    const fix = trigger ? 'does --trigger cause one?' : '--trigger names a mutation that causes one';
    throw new SetupError(`no event came to any socket in ${timeoutMs / 1000} s; ${fix}`);
  }
}

/** @throws SetupError that says why no subscription is left */
function expectLive({ live, endings }: Deliveries): void {
  if (live === 0) throw new SetupError(`no subscription is left: ${[...endings.keys()].join('; ')}`);
}

/**
 * Waits for the time that is measured, or until no subscription is left; with a trigger it causes one event after the other. Resolves with
 * the incomplete ones.
 */
async function count(
  { durationMs, timeoutMs }: Bench,
  trigger: EventTrigger | undefined,
  deliveries: Deliveries,
  progress: Progress,
  stop: AbortSignal,
): Promise<number> {
  let reported = 0;
  const report = setInterval(() => {
    const perSecond = Math.round(((deliveries.count - reported) * 1000) / REPORT_MS);
    progress.show(`${perSecond.toLocaleString('en')} deliveries per second`);
    reported = deliveries.count;
  }, REPORT_MS);
  try {
    const end = performance.now() + durationMs;
    const isOver = () => performance.now() >= end || deliveries.live === 0 || stop.aborted;
    if (!trigger) while (!isOver()) await delay(POLL_MS);
    let incomplete = 0;
    while (trigger && !isOver()) {
      deliveries.trigger();
      const deadline = performance.now() + timeoutMs;
      await trigger.send();
      const isIncomplete = () => deliveries.sinceTrigger < deliveries.live;
      while (isIncomplete() && performance.now() < deadline && !stop.aborted) await delay(1);
      if (isIncomplete() && !stop.aborted) incomplete++;
    }
    return incomplete;
  } finally {
    clearInterval(report);
  }
}

function* notesOf(
  { known, endings, latency }: Deliveries,
  bench: Bench,
  areOwn: boolean,
  silent: number,
): Generator<string> {
  if (known.hasAlike)
    yield 'Events with equal content cannot be told apart: no spread, and no count of what is missing.';
  else if (areOwn) yield 'Each socket receives content of its own: no spread, and no count of what is missing.';
  if (silent > 0) yield `${silent} sockets had received nothing when the measurement began.`;
  if (bench.sentAt && latency.percentiles === undefined) yield '--sent-at: no event had a time there: no latencies.';
  if ([...endings.keys()].some((reason) => reason.includes('EMFILE')))
    yield `This machine allows too few open files: ${MORE_FILES}.`;
}
