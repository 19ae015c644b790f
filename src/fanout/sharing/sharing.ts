import { ExecutionTimeoutError } from '../../errors.ts';
import type { Executing } from '../../flow/executing.ts';
import type { EventResult } from '../../graph/execution/event-execution.ts';
import { Answers } from './answer-classes.ts';
import type { Alike } from './answer-classes.ts';
import type { EventBatch } from '../event-batch.ts';
import type { ExecutionDeadlines } from '../execution-deadlines.ts';
import { cursorLead, resultBytesOf } from '../outbox/frame.ts';
import type { ResultBytes } from '../outbox/frame.ts';
import type { EventAudit } from './sharing-audit.ts';
import type { Job } from '../slices.ts';
import type { ResultSlot, Subscription } from '../subscription.ts';

/**
 * Same reads, same result.
 *
 * THE RULE. The operations of a group have one document, operation name, variables and channel. When one of them was
 * executed for an event, its result goes to every other whose connection gives the same answers to all that the execution
 * asked of its own. Those who differ in any answer are executed for, and share, in the same way.
 *
 * WHY IT IS SAFE. Let an execution for A have asked the questions q1 … qn of `context.connection`, and let B answer each
 * as A does. The execution for B starts from the same source, arguments and document. Up to its first question it runs as
 * A's did, so its first question is q1; it gets A's answer, so it goes on as A's did to q2; and so on to its end, with the
 * same result, be that data, errors or extensions. Nothing else differs between connections: `context.connection` is the
 * only door to them, it records a question before it answers, it never changes its answers, and what was asked is looked at
 * only when the execution has settled and its result is text. To have asked more than mattered costs sharing, never safety.
 *
 * THE ASSUMPTION. Resolvers are functions of source, arguments, context and time: what they compute comes from there,
 * from backends asked through there, or from data that is the same for all. One that is not (it numbers its calls, it
 * remembers who came before) belongs to a field with `@kafka(shared: false)`. `sharing-audit.ts` looks for such resolvers.
 *
 * Executions for several members of a group have even more in common: what no resolver touches (`graph/projection/template.ts`).
 */

/** Executes one event for one member of a group after another. */
export interface ExecuteEvent {
  (subscription: Subscription): EventResult | Promise<EventResult>;
  /** Tests the rule on a sample of shared results; undefined: it is off. */
  readonly audit?: EventAudit;
}

/** Sets of questions that a group remembers, so that its members need not be asked again at the next event. */
const MAX_REMEMBERED = 8;
/** Sets of questions that results of one event are looked up by. Executions that ask others yet are not shared. */
const MAX_ASKED = 4;
/** Executions of others that one member waits for in one event; then it gets its own. */
const MAX_WAITS = 2;
/** So that the clock costs nothing beside the work. */
const STEPS_BETWEEN_CHECKS = 16;

/** The subscriptions of a channel that may share. */
export class SharingGroup {
  /** By which its channel knows it. */
  readonly key: string | Subscription;
  readonly members = new Set<Subscription>();
  /** Members come while an event is served: its results are kept for them, though they may be nobody's yet. */
  readonly isReplay: boolean;
  /** The events that wait for their turn; the latest, where there are more. */
  batch: EventBatch | undefined;
  /** What executions asked, latest first. */
  #remembered: readonly Answers<Subscription>[] = [];

  constructor(key: string | Subscription, isReplay = false) {
    this.key = key;
    this.isReplay = isReplay;
  }

  delete(member: Subscription): boolean {
    for (const answers of this.#remembered) answers.forget(member);
    return this.members.delete(member);
  }

  /** What the last execution asked: the next one will most likely ask that, too. */
  get expected(): Answers<Subscription> | undefined {
    return this.#remembered[0];
  }

  answersFor(reads: EventResult['reads']): Answers<Subscription> {
    const answers = this.#remembered.find((known) => known.isFor(reads)) ?? new Answers<Subscription>(reads);
    if (answers === this.expected) return answers;
    const others = this.#remembered.filter((known) => known !== answers);
    this.#remembered = [answers, ...others].slice(0, MAX_REMEMBERED);
    return answers;
  }
}

interface Waiting {
  readonly member: Subscription;
  readonly slot: ResultSlot;
  /** Executions of others that it has waited for. */
  waits: number;
}

export interface SharedEventOptions {
  /** Names the event to clients; without one its results have no cursor. */
  readonly cursor?: string | undefined;
  /** Called with the bytes of each result that is kept for other members. */
  readonly onKeep?: ((bytes: number) => void) | undefined;
  /** Of executions; without them an execution may take for ever. */
  readonly deadlines?: ExecutionDeadlines | undefined;
  /** Is told how many members wait for executions. */
  readonly executing?: Executing | undefined;
}

/** One event on its way to the members of a group. */
export class SharedEvent {
  readonly #group: SharingGroup;
  readonly #execute: ExecuteEvent;
  readonly #onMore: (serve: Job) => void;
  readonly #onKeep: ((bytes: number) => void) | undefined;
  readonly #deadlines: ExecutionDeadlines | undefined;
  readonly #executing: Executing | undefined;
  /** What its results begin with; undefined: with their brace. */
  readonly #lead: Buffer | undefined;
  readonly #isForOne: boolean;
  readonly #audit: EventAudit | undefined;
  /** Those who waited for an execution that has settled. */
  readonly #again: Waiting[] = [];
  /** What this event's executions asked. */
  readonly #asked: Answers<Subscription>[] = [];
  /** The result for those who give the same answers. */
  #results: Map<Alike, ResultBytes> | undefined;
  /** Members that waited for an execution until its deadline. */
  #late: Set<Subscription> | undefined;
  /** Executions under way, by those for whom they are expected to do. */
  #running: Map<Alike, Waiting[]> | undefined;

  /** @param onMore called with a job that serves the members which had to wait */
  constructor(
    group: SharingGroup,
    execute: ExecuteEvent,
    onMore: (serve: Job) => void,
    { cursor, onKeep, deadlines, executing }: SharedEventOptions = {},
  ) {
    this.#group = group;
    this.#execute = execute;
    this.#onMore = onMore;
    this.#onKeep = onKeep;
    this.#deadlines = deadlines;
    this.#executing = executing;
    this.#lead = cursor === undefined ? undefined : cursorLead(cursor);
    this.#isForOne = group.members.size === 1 && !group.isReplay;
    this.#audit = execute.audit;
  }

  /** Sees to it that a member gets its result, in the order of events. Returns whether that took an execution of its own. */
  serve(member: Subscription): boolean {
    return this.#serve(member, undefined, 0);
  }

  readonly #serveAgain: Job = (isSpent) => {
    for (let waiting = this.#again.pop(); waiting; waiting = this.#again.pop()) {
      this.#serve(waiting.member, waiting.slot, waiting.waits);
      if (this.#again.length % STEPS_BETWEEN_CHECKS === 0 && isSpent()) break;
    }
    return this.#again.length === 0;
  };

  /**
   * The error boundary: a throw ends this member's operation, and nothing else.
   * @param slot reserved for the result when the member had to wait; undefined at its first turn
   */
  #serve(member: Subscription, slot: ResultSlot | undefined, waits: number): boolean {
    if (member.isEnded) return false;
    try {
      return this.#attempt(member, slot, waits);
    } catch (error) {
      member.fail(error);
      return true;
    }
  }

  #attempt(member: Subscription, slot: ResultSlot | undefined, waits: number): boolean {
    if (this.#results) {
      for (const answers of this.#asked) {
        const result = this.#results.get(answers.alikeOf(member));
        if (result === undefined) continue;
        member.deliver(result, slot);
        this.#audit?.onShared(member, result);
        return false;
      }
    }
    if (this.#running && waits < MAX_WAITS) {
      const others = this.#running.get(this.#expectedAlike(member));
      if (others) {
        this.#executing?.add(1);
        others.push({ member, slot: slot ?? member.reserve(), waits: waits + 1 });
        return false;
      }
    }
    const execution = this.#execute(member);
    if (execution instanceof Promise) {
      void this.#await(execution, this.#expectedAlike(member), member, slot ?? member.reserve());
    } else this.#settle(execution, member, slot);
    return true;
  }

  /**
   * Never rejects. Serves the members that wait for the execution after it, also when it failed. At its deadline the member's operation
   * ends. The members that waited for it may wait for one execution more, so that not each of them starts one at once. A member that waits
   * until a second deadline ends, too: the next execution would most likely hang as well.
   */
  async #await(execution: Promise<EventResult>, alike: Alike, member: Subscription, slot: ResultSlot): Promise<void> {
    const others: Waiting[] = [];
    const running = (this.#running ??= new Map<Alike, Waiting[]>());
    if (!running.has(alike)) running.set(alike, others);
    let own = 1;
    this.#executing?.add(own);
    const release = () => {
      if (running.get(alike) === others) running.delete(alike);
      this.#executing?.add(-own - others.length);
      own = 0;
      this.#serveLater(others.splice(0));
    };
    const due = this.#deadlines?.add(() => {
      const error = new ExecutionTimeoutError();
      member.fail(error);
      const late = (this.#late ??= new Set());
      for (const waiting of others) {
        if (late.has(waiting.member)) waiting.member.fail(error);
        late.add(waiting.member);
        waiting.waits = MAX_WAITS - 1;
      }
      release();
    });
    try {
      this.#settle(await execution, member, slot);
    } catch (error) {
      member.fail(error);
    } finally {
      if (due) this.#deadlines?.delete(due);
      release();
    }
  }

  #serveLater(others: Waiting[]): void {
    if (others.length === 0) return;
    const hasJob = this.#again.length > 0;
    // Not as arguments of one call: there may be more than the stack holds.
    for (const waiting of others.reverse()) this.#again.push(waiting);
    if (!hasJob) this.#onMore(this.#serveAgain);
  }

  #settle(execution: EventResult, member: Subscription, slot: ResultSlot | undefined): void {
    const { json, reads } = execution;
    const result = resultBytesOf(json, this.#lead);
    if (!this.#isForOne) {
      this.#audit?.onExecuted(member, result, execution);
      const answers = this.#group.answersFor(reads);
      const alike = answers.alikeOf(member);
      if (!answers.isAlone(alike, this.#group.members.size)) this.#keep(result, answers, alike);
      // It may have left the group meanwhile, which then has nothing to remember of it.
      if (member.isEnded) answers.forget(member);
    }
    member.deliver(result, slot);
  }

  #keep(result: ResultBytes, answers: Answers<Subscription>, alike: Alike): void {
    if (!this.#asked.includes(answers) && this.#asked.length < MAX_ASKED) this.#asked.push(answers);
    (this.#results ??= new Map<Alike, ResultBytes>()).set(alike, result);
    this.#onKeep?.(result.length);
  }

  /** Those who would share with a member if this event's executions asked what the last one did. */
  #expectedAlike(member: Subscription): Alike {
    return this.#group.expected?.alikeOf(member) ?? ANYBODY;
  }
}

const ANYBODY: Alike = { key: '', size: 0 };
