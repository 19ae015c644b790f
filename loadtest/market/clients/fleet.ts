import { createClient as createStockClient } from 'graphql-ws';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../../../client/client.ts';
import { cpuWaitMs } from '../../processes/process-usage.ts';
import { sum } from '../../runner/spread.ts';
import { Interests } from '../load/interests.ts';
import type { Interest } from '../load/interests.ts';
import { TOPICS } from '../load/market.ts';
import type { Settlement, WrittenRecords } from './account.ts';
import type { FleetPlan, FleetReport, FleetUsage, ResumingReport, Window } from './fleet-report.ts';
import { createFleetState } from './fleet-state.ts';
import type { FleetState } from './fleet-state.ts';
import { PublishRecorder } from './publish-recorder.ts';
import { connectClient } from './stock-client.ts';
import { User } from './user.ts';

const CONNECT_BATCH = 100;
const CONNECT_TIMEOUT_MS = 60_000;
const LEAST_GRACE_MS = 2000;
/** After this long without a message to Redis or a client, missing records are lost. */
const SILENCE_MS = 10_000;
/** Wait for duplicates after the last record. */
const QUIET_MS = 500;
const LAG_RESOLUTION_MS = 10;

/** A user and its subscriptions. */
interface Member {
  readonly user: User;
  readonly interests: readonly Interest[];
}

/** Clients of one kind. */
interface Kind {
  readonly create: typeof createStockClient | typeof createClient;
  readonly state: FleetState;
  readonly members: readonly Member[];
}

/** Wall clock in ms, as in the records, with fractions. */
const clock = () => performance.timeOrigin + performance.now();

/** Every client of a market, and what each received. */
export class Fleet {
  readonly #port: number;
  readonly #stock: Kind;
  readonly #resuming: Kind;
  readonly #publishes: PublishRecorder;
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  #from: readonly number[] = [];
  #cpu = process.cpuUsage();
  #waitMs = 0;
  #beganAt = clock();

  constructor(plan: FleetPlan) {
    this.#port = plan.port;
    this.#publishes = new PublishRecorder(plan.redisUrl, plan.channelPrefix, TOPICS.length * plan.auctions, clock);
    const interests = new Interests(plan);
    const kindOf = (count: number, create: Kind['create']): Kind => {
      const state = createFleetState(clock);
      const members = Array.from({ length: count }, () => {
        const own = interests.next(1);
        return { user: new User(own, state), interests: own };
      });
      return { create, state, members };
    };
    this.#stock = kindOf(plan.stock, createStockClient);
    this.#resuming = kindOf(plan.resuming, createClient);
  }

  start(): Promise<void> {
    return this.#publishes.start();
  }

  /** Resolves when every client has subscribed. */
  async connect(): Promise<void> {
    const deadline = clock() + CONNECT_TIMEOUT_MS;
    const isReady = ({ user }: Member) => user.presence.isReady;
    for (const { members, create } of [this.#stock, this.#resuming]) {
      for (let from = 0; from < members.length; from += CONNECT_BATCH) {
        const batch = members.slice(from, from + CONNECT_BATCH);
        for (const { user, interests } of batch) connectClient(this.#port, interests, user, create);
        while (!batch.every(isReady) && clock() < deadline) await delay(10);
      }
    }
    const missing = this.#members.filter((member) => !isReady(member)).length;
    if (missing > 0) throw new Error(`${missing} clients did not connect within ${CONNECT_TIMEOUT_MS / 1000} s`);
  }

  progress() {
    const users = this.#members.map(({ user }) => user);
    return {
      ready: users.filter(({ presence }) => presence.isReady).length,
      live: users.filter(({ isLive }) => isLive).length,
      delivered: this.#stock.state.counts.delivered + this.#resuming.state.counts.delivered,
    };
  }

  /** The ends of connections since the window began. */
  closings() {
    return { normal: this.#stock.state.closings, resuming: this.#resuming.state.closings };
  }

  /** Starts the window. Every subscription has received an event. */
  begin({ from, startsAt }: Window): void {
    const now = clock();
    this.#from = from;
    for (const { state } of [this.#stock, this.#resuming]) {
      state.windowStartsAt = startsAt;
      state.reconnects.reset();
      state.handshakes.reset();
      state.closings = [];
    }
    for (const { user } of this.#members) user.presence.confirm(now);
    this.#cpu = process.cpuUsage();
    this.#waitMs = cpuWaitMs(process.pid);
    this.#beganAt = now;
    this.#lag.enable();
    this.#lag.reset();
  }

  /** Waits until every client is connected and has its records, or until nothing arrives any more. @param to by lane: the last sequence */
  async settle(to: readonly number[]): Promise<FleetReport> {
    const used = process.cpuUsage(this.#cpu);
    const elapsedMs = clock() - this.#beganAt;
    const usage = {
      cpuPercent: (used.user + used.system) / 10 / elapsedMs,
      waitPercent: ((cpuWaitMs(process.pid) - this.#waitMs) / elapsedMs) * 100,
      lagP99Ms: Math.max(0, this.#lag.percentile(99) / 1e6 - LAG_RESOLUTION_MS),
      lagMaxMs: Math.max(0, this.#lag.max / 1e6 - LAG_RESOLUTION_MS),
    };
    const { latency } = this.#stock.state;
    const written: WrittenRecords = {
      from: this.#from,
      to,
      // No delivered event was in flight for longer than the slowest delivery.
      get graceMs() {
        return Math.max(LEAST_GRACE_MS, latency.maxMs);
      },
      publishedAt: (lane, sequence) => this.#publishes.publishedAt(lane, sequence),
    };
    await this.#quiet(written);
    return this.#report(written, usage);
  }

  get #members(): readonly Member[] {
    return [...this.#stock.members, ...this.#resuming.members];
  }

  /** Waits until every client is connected and lacks nothing, or until nothing arrives any more. */
  async #quiet(written: WrittenRecords): Promise<void> {
    const arrivals = () => this.progress().delivered + this.#publishes.count;
    const lacksNothing = () => {
      const { lost, missed } = settlementOf(this.#resuming, written);
      return lost + missed + settlementOf(this.#stock, written).lost === 0;
    };
    let before = arrivals();
    let changedAt = clock();
    for (;;) {
      await delay(QUIET_MS);
      const isQuiet = arrivals() === before;
      before = arrivals();
      if (!isQuiet) changedAt = clock();
      const isBack = this.#members.every(({ user }) => user.presence.isReady);
      if (isQuiet && isBack && lacksNothing()) return;
      if (clock() - changedAt > SILENCE_MS) return;
    }
  }

  #report(written: WrittenRecords, usage: FleetUsage): FleetReport {
    const { counts, latency, reconnects, handshakes } = this.#stock.state;
    let unpublished = 0;
    written.to.forEach((last, lane) => {
      for (let sequence = (written.from[lane] ?? 0) + 1; sequence <= last; sequence++) {
        if (written.publishedAt(lane, sequence) === undefined) unpublished++;
      }
    });
    return {
      ...counts,
      ...settlementOf(this.#stock, written),
      ...{
        unpublished,
        latency: latency.summary(),
        reconnects: reconnects.summary(),
        handshakes: handshakes.summary(),
      },
      ready: readyOf(this.#stock),
      ...usage,
      ...(this.#resuming.members.length > 0 && { resuming: this.#reportResuming(written) }),
    };
  }

  #reportResuming(written: WrittenRecords): ResumingReport {
    const { counts, reconnects } = this.#resuming.state;
    const { duplicates, reordered, gaps, corrupt, unrequested, failures, failedAttempts } = counts;
    const wrong = corrupt + unrequested > 0 ? [`${corrupt} corrupt, ${unrequested} unrequested results`] : [];
    return {
      ...settlementOf(this.#resuming, written),
      ...{ duplicates, reordered, gaps, failedAttempts, failures: [...failures, ...wrong] },
      ...{ reconnects: reconnects.summary(), ready: readyOf(this.#resuming) },
    };
  }
}

function readyOf({ members }: Kind): number {
  return members.filter(({ user }) => user.presence.isReady).length;
}

function settlementOf(
  { members }: Kind,
  written: WrittenRecords,
): Settlement & { subscriptions: number; complete: number } {
  const all = members.flatMap(({ user: { accounts, presence } }) =>
    accounts.map((one) => one.settle(written, presence)),
  );
  const total = (of: keyof Settlement) => sum(all.map((one) => one[of]));
  return {
    subscriptions: all.length,
    complete: all.filter(({ lost, missed }) => lost + missed === 0).length,
    ...{ expected: total('expected'), delivered: total('delivered'), lost: total('lost'), missed: total('missed') },
  };
}
