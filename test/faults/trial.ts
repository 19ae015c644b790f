import type { TestContext } from 'node:test';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { ENTRY_SELECTION } from '../support/entry-record.ts';
import { audit, summaryOf } from '../support/ledger.ts';
import { MARK, Subscriber } from '../support/subscriber.ts';
import type { Asked } from '../support/subscriber.ts';
import { waitFor } from '../support/wait-for.ts';
import { isFull } from './form.ts';
import { LedgerStream } from './ledger-stream.ts';
import type { LedgerStreamOptions } from './ledger-stream.ts';
import { Silence } from './silence.ts';
import type { Stage } from './stage.ts';

const OPENING_ATTEMPTS = 40;

/** `work`: fields selected beside the entry. */
export const entriesQuery = (work = '') =>
  `subscription Entries($lane: ID) { event: entry_written(lane: $lane) { ${work} ${ENTRY_SELECTION} } }`;

export interface TrialOptions extends Pick<LedgerStreamOptions, 'recordsPerSecond' | 'records' | 'contentLength'> {
  /** Fields selected beside the entry: `work(ms: …)`, `wait(ms: …)`. */
  readonly work?: string;
  /** True: the fault cuts Redis, so subscribers of these channels without a history receive gaps, also where nothing is lost. */
  readonly expectsGaps?: boolean;
}

interface Interest extends Asked {
  readonly gateway: PodProcess;
  /** Undefined: all lanes. */
  readonly lane: string | undefined;
}

/** Subscribers of each lane and of all lanes on each gateway, and a ledger that is written during a fault. */
export class Trial {
  readonly stream: LedgerStream;
  readonly subscribers: readonly Subscriber<Interest>[];
  /** At the subscriber of all lanes on the first gateway. */
  readonly #silence = new Silence();
  readonly #t: TestContext;
  readonly #stage: Stage;
  readonly #options: TrialOptions;
  readonly #late: string[] = [];
  #startedAt = 0;

  private constructor(t: TestContext, stage: Stage, gateways: readonly PodProcess[], options: TrialOptions) {
    const { work, ...rate } = options;
    const { brokers, name: topic, partitions } = stage;
    this.#t = t;
    this.#stage = stage;
    this.#options = options;
    this.stream = new LedgerStream(t, { brokers, topic, partitions, ...rate });
    const lanes = [undefined, ...this.stream.lanes];
    const query = entriesQuery(work);
    this.subscribers = gateways.flatMap((gateway) =>
      lanes.map((lane, i) => {
        const interest = { gateway, lane, query, variables: lane === undefined ? {} : { lane } };
        if (gateway !== gateways[0] || i !== 0) return new Subscriber(t, gateway.url, interest);
        return new Subscriber(t, gateway.url, interest, (entry) => this.#silence.heard(entry.lane, performance.now()));
      }),
    );
  }

  /** Resolves when every path is open and the ledger is being written; for an endless ledger, when its first entry was received. */
  static async start(
    t: TestContext,
    stage: Stage,
    gateways: readonly PodProcess[],
    options: TrialOptions,
  ): Promise<Trial> {
    const trial = new Trial(t, stage, gateways, options);
    await trial.#openEveryPath();
    trial.#startedAt = performance.now();
    trial.#silence.begin(trial.stream.lanes, performance.now());
    trial.stream.start();
    if (options.records === undefined) await trial.hears('the first entries');
    return trial;
  }

  /** Entries of all lanes that the first subscriber received. */
  get heard(): number {
    return this.subscribers[0]!.received.length;
  }

  /** Resolves when an entry written after this call has arrived in every lane, with the ms that this took. */
  async hears(what: string): Promise<number> {
    const since = performance.now();
    const { received } = this.subscribers[0]!;
    const writtenAfter = Date.now();
    const from = received.length;
    const lanes = new Set<string>();
    let at = from;
    const isHeard = () => {
      for (; at < received.length; at++) if (received[at]!.writtenAt >= writtenAfter) lanes.add(received[at]!.lane);
      return lanes.size === this.stream.lanes.length;
    };
    await this.#stage.until(`${what} in every lane`, isHeard).catch((error: Error) => {
      throw new Error(`${error.message}\nheard of lanes: ${[...lanes].join(', ')}\n${this.stream.log}`);
    });
    return performance.now() - since;
  }

  /** The longest silence of a lane in ms, since the trial began or since the last call. */
  takeLongestSilence(): number {
    const now = performance.now();
    const { ms } = this.#silence.longest(now);
    this.#silence.begin(this.stream.lanes, now);
    return ms;
  }

  /** Records a duration. In the full form `finish` reports it with the pods' logs if it exceeds its limit. */
  took(what: string, ms: number, maxMs: number): void {
    const text = `${what}: ${(ms / 1000).toFixed(1)} s`;
    this.#t.diagnostic(text);
    if (isFull && ms > maxMs) this.#late.push(`${text}, over ${maxMs / 1000} s\n${this.#stage.logs}`);
  }

  /** Resolves when all `records` are given to kcat. */
  async isWritten(): Promise<void> {
    const { written } = this.stream;
    await this.#stage.until(`${this.#options.records} entries`, () => written.length === this.#options.records);
    this.#t.diagnostic(
      `${written.length - this.heard} of ${written.length} entries were on their way when all were written`,
    );
  }

  /**
   * Ends the ledger, waits for all of it, and returns the faults per subscriber. `victim`: a gateway whose subscribers may lose entries if
   * they receive a gap; subscribers of an ended one do not count.
   */
  async finish(victim?: PodProcess): Promise<string[]> {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.stream.stop();
    this.stream.mark(MARK.end);
    await this.stream.end();
    const isVictimGone = victim !== undefined && (victim.process.exitCode ?? victim.process.signalCode) !== null;
    const witnesses = this.subscribers.filter(({ interest }) => !isVictimGone || interest.gateway !== victim);
    const isFinished = ({ interest: { lane }, finished, closeCode }: Subscriber<Interest>) =>
      closeCode !== undefined || finished.size === (lane === undefined ? this.stream.lanes.length : 1);
    const missing = await this.#stage
      .until('the end mark at every subscriber that is not closed', () => witnesses.every(isFinished))
      .then(
        () => [],
        (error: Error) => [error.message],
      );
    const { written } = this.stream;
    const rate = Math.round(written.length / seconds);
    this.#t.diagnostic(`${written.length} entries, ${rate}/s, at ${witnesses.length} subscribers`);
    return [...missing, ...witnesses.flatMap((witness) => this.#shortcomings(witness, victim)), ...this.#late];
  }

  #shortcomings(subscriber: Subscriber<Interest>, victim: PodProcess | undefined): string[] {
    const { interest, received, failures, closeCode, gaps } = subscriber;
    const { lane, gateway } = interest;
    const due = this.stream.written.filter((entry) => lane === undefined || entry.lane === lane);
    const findings = audit(due, received);
    const name = `subscriber ${this.subscribers.indexOf(subscriber)} (lane ${lane ?? 'any'})`;
    if (gateway === victim)
      this.#t.diagnostic(`${name} of the victim: ${findings.lost.length} lost, ${gaps} gaps told`);
    const isLossTold = gateway === victim && gaps > 0;
    const lossless = isLossTold ? { ...findings, lost: [] } : findings;
    const isTold = gaps > 0 && gateway !== victim && !this.#options.expectsGaps;
    const told = isTold ? `${gaps} gaps told` : '';
    const closed = closeCode === undefined ? '' : `closed with ${closeCode}`;
    const summary = [summaryOf(lossless), told, closed, ...failures].filter((text) => text !== '').join('; ');
    return summary === '' ? [] : [`${name}: ${summary}`];
  }

  /** Writes marks until each subscriber has received one of each of its lanes, because the protocol does not acknowledge a subscribe. */
  async #openEveryPath(): Promise<void> {
    const isOpen = ({ interest: { lane }, started }: Subscriber<Interest>) =>
      started.size === (lane === undefined ? this.stream.lanes.length : 1);
    for (let attempt = 1; ; attempt++) {
      this.stream.mark(MARK.start);
      this.stream.flush();
      try {
        return void (await waitFor('the start mark', () => this.subscribers.every(isOpen), 3000));
      } catch (error) {
        const failures = this.subscribers.flatMap((subscriber) => subscriber.failures);
        if (failures.length > 0) throw new Error(`${failures.length} subscribers failed; the first: ${failures[0]}`);
        if (attempt === OPENING_ATTEMPTS) throw error;
      }
    }
  }
}
