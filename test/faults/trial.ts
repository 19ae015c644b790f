import type { TestContext } from 'node:test';
import type { Pod } from '../end-to-end/pod.ts';
import { ENTRY_SELECTION } from '../support/entry-record.ts';
import { audit, summaryOf } from '../support/ledger.ts';
import { MARK, Subscriber } from '../support/subscriber.ts';
import type { Asked } from '../support/subscriber.ts';
import { waitFor } from '../support/wait-for.ts';
import { isFull } from './form.ts';
import { LedgerStream } from './ledger-stream.ts';
import { Silence } from './silence.ts';
import type { Stage } from './stage.ts';

const OPENING_ATTEMPTS = 40;

const QUERY = `subscription Entries($lane: ID) { event: entry_written(lane: $lane) { ${ENTRY_SELECTION} } }`;

interface Interest extends Asked {
  /** Undefined: all of them. */
  readonly lane: string | undefined;
}

/** Subscribers of every lane, and of all lanes together, on each gateway, and a ledger that is written while something happens. */
export class Trial {
  readonly stream: LedgerStream;
  readonly subscribers: readonly Subscriber<Interest>[];
  /** At the subscriber of all lanes on the first gateway. */
  readonly #silence = new Silence();
  readonly #t: TestContext;
  readonly #stage: Stage;
  readonly #late: string[] = [];
  #startedAt = 0;

  private constructor(t: TestContext, stage: Stage, gateways: readonly Pod[], recordsPerSecond: number) {
    const { brokers, name: topic, partitions } = stage;
    this.#t = t;
    this.#stage = stage;
    this.stream = new LedgerStream(t, { brokers, topic, partitions, recordsPerSecond });
    const lanes = [undefined, ...this.stream.lanes];
    this.subscribers = gateways.flatMap(({ url }, gateway) =>
      lanes.map((lane, i) => {
        const interest = { lane, query: QUERY, variables: lane === undefined ? {} : { lane } };
        if (gateway !== 0 || i !== 0) return new Subscriber(t, url, interest);
        return new Subscriber(t, url, interest, (entry) => this.#silence.heard(entry.lane, performance.now()));
      }),
    );
  }

  /** Resolves when every path is open and the ledger is being written. */
  static async start(t: TestContext, stage: Stage, gateways: readonly Pod[], recordsPerSecond: number): Promise<Trial> {
    const trial = new Trial(t, stage, gateways, recordsPerSecond);
    await trial.#openEveryPath();
    trial.#startedAt = performance.now();
    trial.#silence.begin(trial.stream.lanes, performance.now());
    trial.stream.start();
    await trial.hears('the first entries');
    return trial;
  }

  /** Entries of all lanes that the first subscriber got. */
  get heard(): number {
    return this.subscribers[0]!.received.length;
  }

  /** Resolves, when every lane has brought something that was written after this call, with the ms that this took. */
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

  /** The longest time that a lane brought nothing, in ms, since the trial began or since this was asked before. */
  takeLongestSilence(): number {
    const now = performance.now();
    const { ms } = this.#silence.longest(now);
    this.#silence.begin(this.stream.lanes, now);
    return ms;
  }

  /** Reports how long something took; at full length, `finish` names it where it is over its limit, with the pods' logs. */
  took(what: string, ms: number, maxMs: number): void {
    const text = `${what}: ${(ms / 1000).toFixed(1)} s`;
    this.#t.diagnostic(text);
    if (isFull && ms > maxMs) this.#late.push(`${text}, over ${maxMs / 1000} s\n${this.#stage.logs}`);
  }

  /** Ends the ledger, waits for all of it, and says what was wrong with what came, subscriber by subscriber. */
  async finish(): Promise<string[]> {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.stream.stop();
    this.stream.mark(MARK.end);
    await this.stream.end();
    const isFinished = ({ interest: { lane }, finished }: Subscriber<Interest>) =>
      finished.size === (lane === undefined ? this.stream.lanes.length : 1);
    const missing = await this.#stage
      .until('the end mark at every subscriber', () => this.subscribers.every(isFinished))
      .then(
        () => [],
        (error: Error) => [error.message],
      );
    const { written } = this.stream;
    const rate = Math.round(written.length / seconds);
    this.#t.diagnostic(`${written.length} entries, ${rate}/s, at ${this.subscribers.length} subscribers`);
    return [...missing, ...this.#shortcomings(), ...this.#late];
  }

  #shortcomings(): string[] {
    return this.subscribers.flatMap(({ interest: { lane }, received, failures, closeCode }, i) => {
      const due = this.stream.written.filter((entry) => lane === undefined || entry.lane === lane);
      const closed = closeCode === undefined ? '' : `closed with ${closeCode}`;
      const summary = [summaryOf(audit(due, received)), closed, ...failures].filter((text) => text !== '').join('; ');
      return summary === '' ? [] : [`subscriber ${i} (lane ${lane ?? 'any'}): ${summary}`];
    });
  }

  /** The protocol has no answer to a subscribe, so marks are written until each subscriber has seen one from each of its lanes. */
  async #openEveryPath(): Promise<void> {
    const isOpen = ({ interest: { lane }, started }: Subscriber<Interest>) =>
      started.size === (lane === undefined ? this.stream.lanes.length : 1);
    for (let attempt = 1; ; attempt++) {
      this.stream.mark(MARK.start);
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
