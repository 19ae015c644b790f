import { ExecutionTimeoutError } from '../../../base/errors.ts';
import type { ExecutionLoad } from '../../../bus/flow/channel-load.ts';
import type { Executions } from '../../../graph/execution/executions.ts';
import type { EventResult, PendingResult, StartedEvent } from '../../../graph/execution/event-executor.ts';
import type { Timing } from '../../../graph/execution/timing.ts';
import type { EventTrace } from '../../../ops/tracing/event-trace.ts';
import type { ExecutionTrace } from '../../../ops/tracing/execution-trace.ts';
import type { ChannelEvent } from '../channel-event.ts';
import type { ExecutionDeadlines } from '../execution-deadlines.ts';
import { resultBytesOf } from '../outbox/frame.ts';
import type { ResultBytes } from '../outbox/frame.ts';
import { ResultTimes } from '../outbox/result-times.ts';
import type { EventTimes } from '../outbox/result-times.ts';
import type { ExecutionBound } from '../scheduling/execution-bound.ts';
import type { Job } from '../scheduling/turn-slices.ts';
import type { ResultSlot, Subscription } from '../subscription.ts';
import type { AnswerClass, AnswerClasses } from './answer-classes.ts';
import type { EventAudit, SharingAudit } from './sharing-audit.ts';
import type { SharingGroup } from './sharing-group.ts';

/**
 * Same reads, same result.
 *
 * THE RULE. The operations of a group have one document, operation name, variables and channel. When one of them was executed for an event,
 * its result goes to every other member whose connection has the same values for all facts that the execution read. A member that differs
 * in any value gets an execution of its own, whose result is shared in the same way.
 *
 * WHY IT IS SAFE. A fact is a value of the connection, or the answer that a pure function gives for its values (`FactTest`). Let an
 * execution for A have read the facts f1 … fn through its context, and let B's connection have the same value for each. The execution for B
 * starts from the same source, arguments and document. Up to its first read it runs as A's did, so its first read is f1; it gets the same
 * value, so it runs as A's did up to f2; and so on to its end, with the same result, be that data, errors or extensions. Nothing else differs
 * between connections: the context is the only access to them, it records a read before it returns the value, values never change, and the
 * recorded reads are taken only when the execution has settled and its result is text. A read whose value did not matter costs sharing,
 * never safety. A connection whose claims change gets other facts: a member's class counts only for the facts that it was computed for, and a
 * result that was computed with facts its member no longer has goes to no other member.
 *
 * THE ASSUMPTION. Resolvers are functions of source, arguments, context and time: what they compute comes from these, from backends called
 * through the context, or from data that is the same for all. A resolver that is not (it counts its calls, it remembers earlier callers)
 * belongs to a field with `@kafka(shared: false)`. `sharing-audit.ts` looks for such resolvers.
 *
 * Executions for several members of a group share even more: the text of all fields without resolvers (`graph/projection/template.ts`).
 */

/** Read sets by which the results of one event are looked up. Results of executions with further read sets are not shared. */
const MAX_READ_SETS = 4;
/** Executions of other members that one member waits for in one event; then it gets its own. */
const MAX_WAITS = 2;
/** Members served between two reads of the clock. */
const STEPS_BETWEEN_CHECKS = 16;

interface Waiting {
  readonly member: Subscription;
  readonly slot: ResultSlot;
  /** Executions of other members that it has waited for. */
  waits: number;
}

/** An execution in flight. */
interface Running {
  /** Other members that wait for it. */
  readonly others: Waiting[];
  /** A member that waits for it has ended. */
  readonly onDropped: () => void;
}

/** The same for all events of a hub. */
export interface SharingServices {
  /** Runs a job in its turn: it serves the members that had to wait. */
  readonly schedule: (job: Job) => void;
  readonly executions: Executions;
  /** Bounds the executions in flight; undefined: no bound. */
  readonly bound?: ExecutionBound | undefined;
  /** undefined: an execution may take for ever. */
  readonly deadlines?: ExecutionDeadlines | undefined;
  /** Tests the rule on a sample of shared results; undefined: off. */
  readonly audit?: SharingAudit | undefined;
}

export interface SharedEventOptions {
  /** Ends its results, with its cursor; undefined: they have none. */
  readonly channelEvent?: Pick<ChannelEvent, 'suffix'> | undefined;
  /** Called with the bytes of each result that is kept for other members. */
  readonly onKeep?: ((bytes: number) => void) | undefined;
  /** Counts the members that wait for executions. */
  readonly executing?: ExecutionLoad | undefined;
  /** undefined: the times of its results are not observed. */
  readonly times?: EventTimes | undefined;
  /** undefined: the event is not traced. */
  readonly trace?: EventTrace | undefined;
}

/** Delivers one event to the members of a group, with as few executions as the rule allows. */
export class SharedEvent {
  readonly #group: SharingGroup;
  readonly #event: StartedEvent;
  readonly #services: SharingServices;
  readonly #onKeep: ((bytes: number) => void) | undefined;
  readonly #executing: ExecutionLoad | undefined;
  readonly #times: EventTimes | undefined;
  readonly #trace: EventTrace | undefined;
  /** Of the results of the last timing. */
  #resultTimes: ResultTimes | undefined;
  readonly #audit: EventAudit | undefined;
  readonly #channelEvent: Pick<ChannelEvent, 'suffix'> | undefined;
  /** True if the group had one member when the event was first served: the event may have been held, and members have come and gone. */
  #isForOne: boolean | undefined;
  /** Members that waited for an execution that has settled. */
  readonly #ready: Waiting[] = [];
  /** By read set of this event's executions. */
  readonly #classes: AnswerClasses<Subscription>[] = [];
  #results: Map<AnswerClass, ResultBytes> | undefined;
  /** Members that waited for an execution until its deadline. */
  #late: Set<Subscription> | undefined;
  /** Executions in flight, by the answer class they are expected to serve. */
  #running: Map<AnswerClass, Running> | undefined;

  constructor(
    group: SharingGroup,
    event: StartedEvent,
    services: SharingServices,
    { channelEvent, onKeep, executing, times, trace }: SharedEventOptions = {},
  ) {
    this.#group = group;
    this.#event = event;
    this.#services = services;
    this.#onKeep = onKeep;
    this.#executing = executing;
    this.#times = times;
    this.#trace = trace;
    this.#audit = services.audit?.startEvent(event);
    this.#channelEvent = channelEvent;
  }

  /** Delivers the event to one member, in event order. Returns true if the member needed an execution. */
  serve(member: Subscription): boolean {
    this.#isForOne ??= this.#group.members.size === 1 && !this.#group.isReplay;
    return this.#serve(member, undefined, 0);
  }

  readonly #serveReady: Job = (isSpent) => {
    for (let waiting = this.#ready.pop(); waiting; waiting = this.#ready.pop()) {
      this.#serve(waiting.member, waiting.slot, waiting.waits);
      if (this.#ready.length % STEPS_BETWEEN_CHECKS === 0 && isSpent()) break;
    }
    return this.#ready.length === 0;
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
      for (const classes of this.#classes) {
        const result = this.#results.get(classes.classOf(member));
        if (result === undefined) continue;
        this.#services.executions.share();
        member.deliver(result, slot);
        this.#audit?.onShared(member, result);
        return false;
      }
    }
    if (this.#running && waits < MAX_WAITS) {
      // An execution that began before anything was known of their reads may serve any class.
      const running = this.#running.get(this.#expectedClass(member)) ?? this.#running.get(ANYBODY);
      if (running) {
        this.#executing?.add(1);
        const reserved = slot ?? member.reserve();
        reserved.onDropped = running.onDropped;
        running.others.push({ member, slot: reserved, waits: waits + 1 });
        return false;
      }
    }
    if (this.#services.bound?.mustWait(member.operation)) {
      this.#waitForTurn(member, slot ?? member.reserve(), waits);
      return false;
    }
    const { executions } = this.#services;
    const timing = executions.begin(member.operation);
    const trace = this.#trace?.startExecution(member);
    const execution = this.#event.execute(member, trace);
    if (execution instanceof Promise) {
      const alone = executions.suspend();
      void this.#await(execution, alone, trace, this.#expectedClass(member), member, slot ?? member.reserve());
    } else {
      if (trace) endTrace(trace, timing);
      if (execution.backendRequests) executions.addRequests(timing, execution.backendRequests);
      this.#settle(execution, timing, member, slot, true);
    }
    return true;
  }

  /**
   * Never rejects. When the execution settles or fails, the members that waited for it are served. When all of them have ended, it is aborted.
   * At its deadline the operation of `member` ends. The waiting members may wait for one more execution, so that not each of them starts one at
   * once. A member that waits until a second deadline ends, too: the next execution would most likely hang as well.
   */
  async #await(
    execution: PendingResult,
    timing: Timing,
    trace: ExecutionTrace | undefined,
    answerClass: AnswerClass,
    member: Subscription,
    slot: ResultSlot,
  ): Promise<void> {
    const { bound, deadlines, executions } = this.#services;
    const { facts } = member;
    const others: Waiting[] = [];
    const running = (this.#running ??= new Map<AnswerClass, Running>());
    let own = 1;
    let isAbandoned = false;
    const abandon = (reason: Error) => {
      isAbandoned = true;
      if (running.get(answerClass)?.others === others) running.delete(answerClass);
      execution.abandon?.(reason);
    };
    const onDropped = () => {
      if (own > 0 && member.isEnded && others.every((waiting) => waiting.member.isEnded)) abandon(NOBODY_WAITS);
    };
    slot.onDropped = onDropped;
    if (!running.has(answerClass)) running.set(answerClass, { others, onDropped });
    this.#executing?.add(own);
    executions.inFlight++;
    bound?.begin(member.operation);
    this.#trace?.onPending();
    const release = () => {
      if (running.get(answerClass)?.others === others) running.delete(answerClass);
      this.#executing?.add(-own - others.length);
      if (own > 0) bound?.end();
      this.#serveLater(others.splice(0));
      if (own > 0) this.#trace?.onSettled();
      own = 0;
    };
    const due = deadlines?.add(() => {
      const error = new ExecutionTimeoutError();
      abandon(error);
      member.operation.tally.errors++;
      member.fail(error);
      trace?.fail('timeout');
      const late = (this.#late ??= new Set());
      for (const waiting of others) {
        if (late.has(waiting.member)) waiting.member.fail(error);
        late.add(waiting.member);
        waiting.waits = MAX_WAITS - 1;
      }
      release();
    });
    try {
      const settled = await execution;
      if (trace) endTrace(trace, timing);
      executions.settle(timing, settled.backendRequests);
      this.#settle(settled, timing, member, slot, member.facts === facts && !isAbandoned);
    } catch (error) {
      member.fail(error);
    } finally {
      executions.inFlight--;
      if (due) deadlines?.delete(due);
      release();
    }
  }

  /** The pod has as many executions in flight as it may. */
  #waitForTurn(member: Subscription, slot: ResultSlot, waits: number): void {
    this.#executing?.add(1);
    this.#trace?.onPending();
    this.#services.bound!.wait(this.#executing?.load, () => {
      this.#executing?.add(-1);
      this.#serve(member, slot, waits);
      this.#trace?.onSettled();
    });
  }

  #serveLater(others: Waiting[]): void {
    if (others.length === 0) return;
    const isScheduled = this.#ready.length > 0;
    // Not as arguments of one call: there may be more than the stack holds.
    for (const waiting of others.reverse()) this.#ready.push(waiting);
    if (!isScheduled) this.#services.schedule(this.#serveReady);
  }

  /** @param isShareable false: the result was computed with facts that the member no longer has, or its execution was aborted */
  #settle(
    execution: EventResult,
    timing: Timing,
    member: Subscription,
    slot: ResultSlot | undefined,
    isShareable: boolean,
  ): void {
    const { json, reads } = execution;
    if (this.#resultTimes?.timing !== timing) this.#resultTimes = new ResultTimes(this.#times, timing);
    const result = resultBytesOf(json, this.#channelEvent?.suffix, this.#resultTimes);
    if (isShareable && !this.#isForOne) {
      this.#audit?.onExecuted(member, result, execution);
      const classes = this.#group.classesFor(reads);
      const answerClass = classes.classOf(member);
      if (!classes.isAlone(answerClass, this.#group.members.size)) this.#keep(result, classes, answerClass);
      // The member may have left the group during its execution; the group then forgets its class.
      if (member.isEnded) classes.delete(member);
    }
    this.#trace?.onResult();
    member.deliver(result, slot);
  }

  #keep(result: ResultBytes, classes: AnswerClasses<Subscription>, answerClass: AnswerClass): void {
    if (!this.#classes.includes(classes) && this.#classes.length < MAX_READ_SETS) this.#classes.push(classes);
    (this.#results ??= new Map<AnswerClass, ResultBytes>()).set(answerClass, result);
    result.isShared = true;
    this.#onKeep?.(result.length);
  }

  /** The member's class if this event's executions read what the last one read. */
  #expectedClass(member: Subscription): AnswerClass {
    return this.#group.expected?.classOf(member) ?? ANYBODY;
  }
}

const NOBODY_WAITS = new Error('the last subscriber that waited for the result has left');

const ANYBODY: AnswerClass = { key: '', size: 0 };

/** Ends the span of an execution that has settled, and gives its trace to the timing. */
function endTrace(trace: ExecutionTrace, timing: Timing): void {
  trace.end();
  timing.traceId = trace.traceId;
}
