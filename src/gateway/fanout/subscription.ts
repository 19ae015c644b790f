import type { ConnectionFacts } from '../../graph/context/connection-facts.ts';
import type { Operation } from '../../graph/documents/operation.ts';
import type { Pace } from '../../graph/pace.ts';
import { withNotes } from './outbox/frame.ts';
import type { ResultBytes } from './outbox/frame.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Wait } from './outbox/wait-list.ts';
import type { Classified } from './sharing/answer-classes.ts';

export interface SubscriptionOwner {
  /** An event could not be delivered to the subscription, which has ended. Must not throw. */
  onFailure(error: unknown): void;
  /** The subscription has completed and has ended. Must not throw. */
  onComplete(): void;
  /** One result more than `maxPendingEvents` waits for an earlier execution, or the pod has no room for what waits. The subscription must end. Must not throw. */
  onBehind(): void;
}

export interface SubscriptionOptions {
  readonly id: string;
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
  readonly outbox: Pick<Outbox, 'format' | 'sendParts' | 'isBackpressured' | 'isBehind' | 'waitList' | 'passRoom'>;
  readonly owner: SubscriptionOwner;
  /** Results that may wait for an earlier execution. */
  readonly maxPendingEvents: number;
  /** undefined: it receives each event. */
  readonly pace?: Pace | undefined;
}

/** The turn of a result that is not computed yet. */
export interface ResultSlot {
  result: ResultBytes | undefined;
  /** Additional members of the result's `extensions`. */
  readonly notes: string | undefined;
  /** Its turn has come; undefined: it is the slot of a result. */
  readonly onTurn?: () => unknown;
  /** The subscription has ended, so nobody waits for the result. */
  onDropped?: (() => void) | undefined;
}

/** The first slot while results wait for `confirm()`. */
const UNCONFIRMED: ResultSlot = Object.freeze({ result: undefined, notes: undefined });

/** The last slot of a subscription that completes after the results before it. */
const COMPLETION: ResultSlot = Object.freeze({ result: undefined, notes: undefined });

/**
 * A live operation in the hub: what to execute for it and where its results go. Executions may finish in any
 * order; results leave in the order of their events.
 */
export class Subscription {
  /** Of the groups that it joins from now on; replaced when the pod serves another graph. */
  operation: Operation;
  /** Of these groups. */
  pace: Pace | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  #facts: ConnectionFacts;
  readonly #id: string;
  /** Only its sharing group writes to it. */
  classified: Classified | undefined;
  /** Built for the first event, so that an idle subscription holds none. */
  #prefix: Buffer | undefined;
  readonly #outbox: SubscriptionOptions['outbox'];
  readonly #owner: SubscriptionOwner;
  readonly #maxPendingEvents: number;
  #maxReplayed = 0;
  #isEnded = false;
  /** Members of `extensions` that only the next message of this subscription has. */
  #notes: string | undefined;
  /** Slots of results that have not been sent, in event order. */
  #slots: ResultSlot[] | undefined;

  constructor(options: SubscriptionOptions) {
    this.operation = options.operation;
    this.pace = options.pace;
    this.variables = options.variables;
    this.#facts = options.facts;
    this.#id = options.id;
    this.#outbox = options.outbox;
    this.#owner = options.owner;
    this.#maxPendingEvents = options.maxPendingEvents;
  }

  /** The facts of executions that begin now. */
  get facts(): ConnectionFacts {
    return this.#facts;
  }

  /** Executions that begin after this call have these facts. */
  replaceFacts(facts: ConnectionFacts): void {
    if (!this.#isEnded) this.#facts = facts;
  }

  /** Replaces the facts. Results wait until `confirm()`, in the order of events: also those of executions that began with the old facts. */
  hold(facts: ConnectionFacts): void {
    if (this.#isEnded) return;
    this.#facts = facts;
    const slots = (this.#slots ??= []);
    if (slots[0] !== UNCONFIRMED) slots.unshift(UNCONFIRMED);
  }

  /** The operation is authorised with its facts: sends the results that have waited for this. */
  confirm(): void {
    if (this.#slots?.[0] !== UNCONFIRMED) return;
    this.#slots.shift();
    this.#sendReady();
  }

  /** Nothing is sent after this. */
  end(): void {
    this.#isEnded = true;
    const slots = this.#slots;
    this.#slots = undefined;
    for (const slot of slots ?? []) slot.onDropped?.();
  }

  /** Ends the operation because an event cannot be delivered to it. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.end();
    this.#owner.onFailure(error);
  }

  /** Ends the operation once all results that were delivered or have a slot are sent. */
  complete(): void {
    if (this.#isEnded) return;
    (this.#slots ??= []).push(COMPLETION);
    this.#sendReady();
  }

  /** Calls back once all results that were delivered or have a slot are sent, with what the next one would be told. */
  afterResults(onSent: (notes: string | undefined) => void): void {
    if (this.#isEnded) return;
    (this.#slots ??= []).push({ result: undefined, notes: undefined, onTurn: () => onSent(this.#takeNotes()) });
    this.#sendReady();
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** True if results wait: for an execution, or for a backpressured socket. */
  get isLagging(): boolean {
    return this.isExecuting || this.#outbox.isBackpressured;
  }

  /** True if results wait for an execution. */
  get isExecuting(): boolean {
    return this.#slots !== undefined;
  }

  /** True if newer events should replace those that it has not received: results wait for half of what may, or its client does not keep up. */
  get isBehind(): boolean {
    return this.#executesTooMuch || this.#outbox.isBehind;
  }

  get #executesTooMuch(): boolean {
    return (this.#slots?.length ?? 0) > this.#maxPendingEvents / 2;
  }

  /**
   * Calls back once it may no longer be lagging, or behind: the results that wait for executions are sent, or its outbox has room.
   * @returns ends the wait
   */
  awaitRoom(wait: Wait, onRoom: () => void): () => void {
    if (wait === 'lagging' ? this.isExecuting : this.#executesTooMuch) {
      // Others may use the room of the outbox meanwhile.
      this.passRoom();
      return this.#awaitResults(onRoom);
    }
    const list = this.#outbox.waitList(wait);
    list.add(onRoom);
    return () => list.delete(onRoom);
  }

  /** Its slot counts among the results that wait, so it is given back. */
  #awaitResults(onSent: () => void): () => void {
    const slots = this.#slots!;
    // The end of the subscription ends the wait.
    if (slots.at(-1) === COMPLETION) return () => undefined;
    const slot: ResultSlot = { result: undefined, notes: undefined, onTurn: onSent };
    slots.push(slot);
    return () => {
      const place = slots.indexOf(slot);
      if (place >= 0) slots.splice(place, 1);
    };
  }

  /** The outbox may have room for more than what waited for it. */
  passRoom(): void {
    this.#outbox.passRoom();
  }

  /** Ends the operation because too much waits for it. */
  giveUp(): void {
    if (!this.#isEnded) this.#owner.onBehind();
  }

  /** `events` (a count) come at once, from the history: by themselves they do not make a slow consumer. */
  expectReplay(events: number): void {
    this.#maxReplayed = Math.max(this.#maxReplayed, events);
  }

  /** Reserves the next slot in the order of results. A result must be delivered to it, or the operation must end: later results wait for it. */
  reserve(): ResultSlot {
    const slot: ResultSlot = { result: undefined, notes: this.#takeNotes(), onDropped: undefined };
    const slots = (this.#slots ??= []);
    if (slots.at(-1) === COMPLETION) return slot;
    const waiting = slots[0] === UNCONFIRMED ? slots.length - 1 : slots.length;
    if (waiting < this.#maxPendingEvents + this.#maxReplayed) slots.push(slot);
    else this.#owner.onBehind();
    return slot;
  }

  /** Sends a result in the order of its slot; without one, after all results that were delivered or have a slot. */
  deliver(result: ResultBytes, slot?: ResultSlot): void {
    if (this.#isEnded) return;
    if (slot === undefined && this.#slots === undefined) return this.#send(result, this.#takeNotes());
    (slot ?? this.reserve()).result = result;
    this.#sendReady();
  }

  /**
   * Adds a member such as `"gap":true` to the `extensions` of the next result: of the first one that is neither delivered nor has a slot.
   * Returns false if the note was already pending, or the subscription has ended.
   */
  note(note: string): boolean {
    if (this.#isEnded || (this.#notes !== undefined && `,${this.#notes},`.includes(`,${note},`))) return false;
    this.#notes = this.#notes === undefined ? note : `${this.#notes},${note}`;
    return true;
  }

  /** Sends the results that wait for no earlier one. */
  #sendReady(): void {
    let next = this.#slots?.[0];
    for (; next?.result ?? next?.onTurn; next = this.#slots?.[0]) {
      this.#slots!.shift();
      if (next.result) this.#send(next.result, next.notes);
      else next.onTurn!();
    }
    if (this.#slots?.length === 0) this.#slots = undefined;
    if (next !== COMPLETION) return;
    this.end();
    this.#owner.onComplete();
  }

  #takeNotes(): string | undefined {
    const notes = this.#notes;
    if (notes !== undefined) this.#notes = undefined;
    return notes;
  }

  #send(result: ResultBytes, notes: string | undefined): void {
    const { format } = this.#outbox;
    const prefix = (this.#prefix ??= format.prefixOf(this.#id));
    const noted = notes === undefined ? result : withNotes(result, notes);
    this.#outbox.sendParts(prefix, format.endResult ? format.endResult(noted, notes) : noted);
  }
}
