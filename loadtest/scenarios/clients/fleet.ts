import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuWaitMs } from '../../processes/process-usage.ts';
import { createClient } from '../../../client/client.ts';
import { createDice } from '../../../examples/auction/dice.ts';
import type { Dice } from '../../../examples/auction/dice.ts';
import type { WrittenRecords, Settlement } from './account.ts';
import type { Client, ClientPlan } from './client.ts';
import type {
  FleetClosings,
  FleetPlan,
  FleetProgress,
  FleetReport,
  FleetUsage,
  ResumingReport,
  Window,
} from './fleet-calls.ts';
import { Interests } from '../load/interests.ts';
import type { Interest } from '../load/interests.ts';
import { TOPICS } from '../load/market.ts';
import { RawClient } from './raw-client.ts';
import { ResultReader } from './result-reader.ts';
import { StockClient } from './stock-client.ts';
import { User } from './user.ts';
import { createFleetState } from './fleet-state.ts';
import type { FleetState } from './fleet-state.ts';
import { PublishRecorder } from './publish-recorder.ts';

const CONNECT_BATCH = 100;
const CONNECT_TIMEOUT_MS = 60_000;
const LEAST_GRACE_MS = 2000;
/** After this long without a message to Redis or a client, missing records are lost. */
const SILENCE_MS = 10_000;
/** Wait for duplicates after the last record. */
const QUIET_MS = 500;
const LAG_RESOLUTION_MS = 10;

type Kind = 'stock' | 'raw' | 'slow' | 'resuming';

interface Member {
  readonly kind: Kind;
  readonly user: User;
  readonly client: Client;
  churnTimer?: NodeJS.Timeout;
}

/** Wall clock in ms, as in the records, with fractions. */
const clock = () => performance.timeOrigin + performance.now();

/** Every client of a scenario, and what each received. */
export class Fleet {
  readonly #members: Member[] = [];
  readonly #dice: Dice;
  readonly #publishes: PublishRecorder;
  readonly #state: FleetState;
  /** Of the clients that resume. */
  readonly #resuming: FleetState;
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  #from: readonly number[] = [];
  #isChurning = false;
  #cpu = process.cpuUsage();
  #waitMs = 0;
  #beganAt = clock();

  constructor(plan: FleetPlan) {
    this.#dice = createDice(plan.seed + 2);
    this.#publishes = new PublishRecorder(plan.redisUrl, plan.channelPrefix, TOPICS.length * plan.auctions, clock);
    const readers = new Map<string, ResultReader>();
    const readerOf = ({ name }: Interest) => {
      const reader = readers.get(name) ?? new ResultReader();
      readers.set(name, reader);
      return reader;
    };
    this.#state = createFleetState(clock, readerOf);
    this.#resuming = createFleetState(clock, readerOf);
    const interests = new Interests(plan);
    for (let i = 0; i < plan.clients; i++) {
      this.#add(interests.next(plan.subscriptionsPerClient), plan, i < plan.stock ? 'stock' : 'raw');
    }
    for (let i = 0; i < plan.slow; i++) this.#add([interests.wholeHouse()], plan, 'slow');
    for (let i = 0; i < (plan.resuming ?? 0); i++) {
      this.#add(interests.next(plan.subscriptionsPerClient), plan, 'resuming');
    }
  }

  start(): Promise<void> {
    return this.#publishes.start();
  }

  async connect(atOnce: boolean): Promise<void> {
    const deadline = clock() + CONNECT_TIMEOUT_MS;
    const waiting = [...this.#members];
    const isReady = ({ user }: Member) => user.presence.isReady;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, atOnce ? waiting.length : CONNECT_BATCH);
      for (const { client } of batch) client.start();
      while (!batch.every(isReady) && clock() < deadline) await delay(10);
    }
    const missing = this.#members.filter((member) => !isReady(member)).length;
    if (missing > 0) throw new Error(`${missing} clients did not connect within ${CONNECT_TIMEOUT_MS / 1000} s`);
  }

  progress(): FleetProgress {
    const users = this.#members.map(({ user }) => user);
    const { delivered, closes, slowCloses } = this.#state.counts;
    const resuming = this.#resuming.counts;
    return {
      ready: users.filter(({ presence }) => presence.isReady).length,
      live: users.filter(({ isLive }) => isLive).length,
      delivered: delivered + resuming.delivered,
      closed: sum(closes) + sum(slowCloses) + sum(resuming.closes),
    };
  }

  closings(): FleetClosings {
    return { normal: this.#state.closings, resuming: this.#resuming.closings };
  }

  begin({ from, startsAt, isConfirmed }: Window & { readonly isConfirmed: boolean }): void {
    const now = clock();
    this.#from = from;
    for (const state of [this.#state, this.#resuming]) {
      state.windowStartsAt = startsAt;
      state.reconnects.reset();
      state.handshakes.reset();
      state.closings = [];
    }
    if (isConfirmed) for (const { user } of this.#members) user.presence.confirm(now);
    this.#cpu = process.cpuUsage();
    this.#waitMs = cpuWaitMs(process.pid);
    this.#beganAt = now;
    this.#lag.enable();
    this.#lag.reset();
  }

  churn(seconds: number): void {
    this.#isChurning = true;
    for (const member of this.#members) {
      const again = (waitMs: number) => {
        member.churnTimer = setTimeout(() => {
          member.user.isLeaving = true;
          if (member.user.presence.isReady) member.client.reconnect();
          member.user.isLeaving = false;
          if (this.#isChurning) again(seconds * this.#dice.between(800, 1200));
        }, waitMs);
      };
      again(this.#dice.between(0, seconds * 1000));
    }
  }

  async settle(to: readonly number[]): Promise<FleetReport> {
    const used = process.cpuUsage(this.#cpu);
    const elapsedMs = clock() - this.#beganAt;
    const usage = {
      cpuPercent: (used.user + used.system) / 10 / elapsedMs,
      waitPercent: ((cpuWaitMs(process.pid) - this.#waitMs) / elapsedMs) * 100,
      lagP99Ms: Math.max(0, this.#lag.percentile(99) / 1e6 - LAG_RESOLUTION_MS),
      lagMaxMs: Math.max(0, this.#lag.max / 1e6 - LAG_RESOLUTION_MS),
    };
    this.#isChurning = false;
    for (const { churnTimer } of this.#members) clearTimeout(churnTimer);
    const { latency } = this.#state;
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

  close(): void {
    for (const { client, churnTimer } of this.#members) {
      clearTimeout(churnTimer);
      client.stop();
    }
    this.#publishes.close();
  }

  #add(interests: readonly Interest[], { port }: FleetPlan, kind: Kind): void {
    const isSlow = kind === 'slow';
    const user = new User(interests, isSlow, kind === 'resuming' ? this.#resuming : this.#state);
    const clientPlan = { port, interests, dice: this.#dice, isSlow };
    this.#members.push({ kind, user, client: clientOf(kind, clientPlan, user) });
  }

  /** Waits until every normal client is connected and lacks nothing, or until nothing arrives any more. */
  async #quiet(written: WrittenRecords): Promise<void> {
    const arrivals = () => this.progress().delivered + this.#publishes.count;
    const isReader = ({ kind }: Member) => kind !== 'slow';
    const lacksNothing = () => {
      const { lost, missed } = this.#settlement(written, this.#users('resuming'));
      return lost + missed + this.#settlement(written).lost === 0;
    };
    let before = arrivals();
    let changedAt = clock();
    for (;;) {
      await delay(QUIET_MS);
      const isQuiet = arrivals() === before;
      before = arrivals();
      if (!isQuiet) changedAt = clock();
      const isBack = this.#members.filter(isReader).every(({ user }) => user.presence.isReady);
      if (isQuiet && isBack && lacksNothing()) return;
      if (clock() - changedAt > SILENCE_MS) return;
    }
  }

  #users(...kinds: readonly Kind[]): User[] {
    return this.#members.filter(({ kind }) => kinds.includes(kind)).map(({ user }) => user);
  }

  #settlement(
    written: WrittenRecords,
    users = this.#users('stock', 'raw'),
  ): Settlement & { subscriptions: number; complete: number } {
    const total = { subscriptions: 0, complete: 0, expected: 0, delivered: 0, lost: 0, missed: 0 };
    for (const { accounts, presence } of users) {
      for (const account of accounts) {
        const { expected, delivered, lost, missed } = account.settle(written, presence);
        total.subscriptions++;
        if (lost + missed === 0) total.complete++;
        total.expected += expected;
        total.delivered += delivered;
        total.lost += lost;
        total.missed += missed;
      }
    }
    return total;
  }

  #report(written: WrittenRecords, usage: FleetUsage): FleetReport {
    const { counts, latency, reconnects, handshakes } = this.#state;
    let unpublished = 0;
    written.to.forEach((last, lane) => {
      for (let sequence = (written.from[lane] ?? 0) + 1; sequence <= last; sequence++) {
        if (written.publishedAt(lane, sequence) === undefined) unpublished++;
      }
    });
    return {
      ...counts,
      ...this.#settlement(written),
      unpublished,
      latency: latency.summary(),
      reconnects: reconnects.summary(),
      handshakes: handshakes.summary(),
      ready: countReady(this.#users('stock', 'raw')),
      ...usage,
      ...(this.#users('resuming').length > 0 && { resuming: this.#reportResuming(written) }),
    };
  }

  #reportResuming(written: WrittenRecords): ResumingReport {
    const users = this.#users('resuming');
    const { counts, reconnects } = this.#resuming;
    const { duplicates, reordered, gaps, corrupt, unrequested, failures, failedAttempts } = counts;
    const wrong = corrupt + unrequested > 0 ? [`${corrupt} corrupt, ${unrequested} unrequested results`] : [];
    return {
      ...this.#settlement(written, users),
      ...{ duplicates, reordered, gaps, failedAttempts },
      failures: [...failures, ...wrong],
      reconnects: reconnects.summary(),
      ready: countReady(users),
    };
  }
}

function clientOf(kind: Kind, plan: ClientPlan, owner: User): Client {
  if (kind === 'stock') return new StockClient(plan, owner);
  if (kind === 'resuming') return new StockClient(plan, owner, createClient);
  return new RawClient(plan, owner);
}

function countReady(users: readonly User[]): number {
  return users.filter(({ presence }) => presence.isReady).length;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}
