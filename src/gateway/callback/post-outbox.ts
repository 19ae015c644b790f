import { Fifo } from '../../base/fifo.ts';
import { ResultBytes } from '../fanout/outbox/frame.ts';
import { MIN_QUEUED_MESSAGES } from '../fanout/outbox/outbox.ts';
import type { Message } from '../fanout/outbox/frame.ts';
import type { MessageOutbox } from '../fanout/outbox/outbox.ts';
import { WaitLists } from '../fanout/outbox/wait-list.ts';
import type { Wait, WaitList } from '../fanout/outbox/wait-list.ts';
import type { WritableOutbox, Writer } from '../fanout/outbox/writer.ts';
import type { CallbackFormat } from './callback-format.ts';
import type { CallbackOrigin, PostOutcome, Poster } from './callback-origin.ts';

export interface PostOutboxOptions {
  readonly format: CallbackFormat;
  readonly origin: CallbackOrigin;
  /** Of the callback's URL, with its query. */
  readonly path: string;
  /** Counts the bytes of all posts. */
  readonly posts: { bytesWritten: number };
  readonly writer: Writer;
  /** Messages that may wait. */
  readonly maxMessages: number;
  /** Time in ms after the first post of a message in which it is posted again. */
  readonly retryForMs: number;
}

export interface PostOutboxOwner {
  /** Bound of the bytes that wait. */
  readonly maxQueueBytes: number;
  /** False: no post is repeated. The router has asked for the subscription just now, so it is up, and its request waits. */
  readonly isConfirmed: boolean;
  onSlowConsumer(): void;
  /** Something threw: the subscription must be ended. Must not throw. */
  onWriteFailure(error: unknown): void;
  /** The router has accepted a message. */
  onDelivered(): void;
  /** A message is not delivered. Nothing is posted before this has returned. */
  onUndelivered(outcome: PostOutcome): void;
  /** After `finish`: nothing is left to be posted. */
  onFinished(): void;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;

const NOTHING = Buffer.alloc(0);

/**
 * The messages of one callback, in order: one post at a time, repeated while the router cannot be reached. Messages wait as references to
 * shared bytes, up to a bound. Beyond it the router is a slow consumer of this subscription, which ends. No other subscription waits.
 */
export class PostOutbox implements MessageOutbox, WritableOutbox, Poster {
  readonly format: CallbackFormat;
  readonly #options: PostOutboxOptions;
  readonly #owner: PostOutboxOwner;
  #waiting = new Fifo<Message>();
  /** The message that is being posted, or will be posted again. */
  #current: Message | undefined;
  #queuedBytes = 0;
  #largestBytes = 0;
  #blockedSince = 0;
  #firstPostedAt = 0;
  #retries = 0;
  #retry: NodeJS.Timeout | undefined;
  /** undefined: nobody has waited. */
  #waitLists: WaitLists | undefined;
  #isCheckDue = false;
  #isScheduled = false;
  /** True: it waits for its turn, is posting, or waits to post again. */
  #isBusy = false;
  #isSlow = false;
  #isFinishing = false;

  constructor(owner: PostOutboxOwner, options: PostOutboxOptions) {
    this.format = options.format;
    this.#owner = owner;
    this.#options = options;
  }

  /** Bytes of messages that the router has not accepted. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** True if messages wait for a post: the router does not accept them as fast as they come. */
  get isBackpressured(): boolean {
    return this.#isBusy && !this.#waiting.isEmpty;
  }

  /** True if the router does not keep up. */
  get isBehind(): boolean {
    return this.isBackpressured;
  }

  waitList(wait: Wait): WaitList {
    return (this.#waitLists ??= new WaitLists())[wait];
  }

  passRoom(): void {
    this.#waitLists?.wakeNext();
  }

  get blockedSince(): number {
    return this.#blockedSince;
  }

  /** Asks the router, before whatever waits, whether it still has the subscription. */
  check(): void {
    this.#isCheckDue = true;
    this.#work();
  }

  send(message: string): boolean {
    return this.sendParts(NOTHING, new ResultBytes([Buffer.from(message)]));
  }

  /** @returns false if the subscription is ending, or this message made its router a slow consumer */
  sendParts(prefix: Buffer, result: ResultBytes): boolean {
    if (this.#isFinishing) return false;
    const { writer, maxMessages } = this.#options;
    const length = prefix.length + result.length;
    this.#waiting.add({ prefix, result });
    this.#largestBytes = Math.max(this.#largestBytes, length);
    this.#count(length);
    const maxBytes = Math.max(this.#owner.maxQueueBytes, MIN_QUEUED_MESSAGES * this.#largestBytes);
    if (this.#queuedBytes > maxBytes || this.#waiting.length > maxMessages) {
      this.refuse();
      return false;
    }
    if (this.#isBusy) this.#markBusy();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      writer.schedule(this);
    }
    writer.keepBound();
    return !this.#isSlow;
  }

  /** Ends the subscription: its router is a slow consumer. While it is finishing, what waits is dropped. Idempotent. */
  refuse(): void {
    if (this.#isFinishing) {
      this.#dropWaiting();
      return this.finish();
    }
    if (this.#isSlow) return;
    this.#isSlow = true;
    this.drop();
    this.#owner.onSlowConsumer();
  }

  /** The writer's turn for this outbox. */
  onTurn(): void {
    this.#isScheduled = false;
    this.#work();
  }

  /** Takes no more messages, and calls `onFinished` once those that wait are posted. */
  finish(): void {
    this.#isFinishing = true;
    this.#isCheckDue = false;
    if (this.#isBusy) return;
    if (this.#waiting.isEmpty) setImmediate(() => this.#owner.onFinished());
    else this.#work();
  }

  /** Drops what waits, unless it is finishing. A post that has begun goes on. */
  drop(): void {
    if (!this.#isFinishing) this.#dropWaiting();
  }

  /** Drops what waits, also if it is finishing, and posts no more. */
  abandon(): void {
    this.#isFinishing = true;
    this.#isCheckDue = false;
    this.#dropWaiting();
  }

  /** Its turn at the origin. */
  async post(): Promise<void> {
    try {
      // Closes the subscriptions whose tokens have expired: they post no result.
      this.#options.writer.beforeWrites?.();
      this.#current ??= this.#take();
      if (!this.#current) return this.#rest();
      this.#settle(await this.#post(this.#current));
    } catch (error) {
      this.abandon();
      this.#owner.onWriteFailure(error);
    }
  }

  #post({ prefix, result }: Message): Promise<PostOutcome> {
    const body = Buffer.concat([prefix, ...result.pieces]);
    this.#options.posts.bytesWritten += body.length;
    if (this.#retries === 0) this.#firstPostedAt = performance.now();
    return this.#options.origin.post(this.#options.path, body);
  }

  #settle(outcome: PostOutcome): void {
    const isUnreachable = outcome.result === 'unreachable';
    if (outcome.result === 'delivered') this.#onDelivered();
    // It was dropped meanwhile: what follows may reach the router.
    else if (isUnreachable && !this.#current) this.#continue();
    else if (isUnreachable && this.#mayRetry) this.#postLater();
    else this.#onUndelivered(outcome);
  }

  get #mayRetry(): boolean {
    return this.#owner.isConfirmed && performance.now() - this.#firstPostedAt < this.#options.retryForMs;
  }

  #work(): void {
    if (this.#isBusy || (this.#waiting.isEmpty && !this.#isCheckDue)) return;
    this.#isBusy = true;
    this.#markBusy();
    this.#options.origin.add(this);
  }

  #take(): Message | undefined {
    if (this.#isCheckDue) {
      this.#isCheckDue = false;
      const result = new ResultBytes([Buffer.from(this.format.check)]);
      this.#count(result.length);
      return { prefix: NOTHING, result };
    }
    return this.#waiting.isEmpty ? undefined : this.#waiting.take();
  }

  /** Nothing is left to be posted. */
  #rest(): void {
    this.#isBusy = false;
    this.#options.writer.backpressured.delete(this);
    this.#largestBytes = 0;
    if (this.#isFinishing) this.#owner.onFinished();
  }

  #onDelivered(): void {
    const { deliveries } = this.#options.writer;
    deliveries.writes++;
    if (this.#current) deliveries.add([this.#current], 1, lengthOf(this.#current));
    deliveries.observe();
    this.#blockedSince = performance.now();
    this.#release();
    this.#owner.onDelivered();
    this.#continue();
  }

  #onUndelivered(outcome: PostOutcome): void {
    this.#release();
    this.#owner.onUndelivered(outcome);
    this.#continue();
  }

  #postLater(): void {
    const delay = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#retries++);
    // Half of it at random: the subscribers of a router that failed do not come back at once.
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        this.#options.origin.add(this);
      },
      delay / 2 + (Math.random() * delay) / 2,
    );
  }

  #release(): void {
    if (this.#current) this.#count(-lengthOf(this.#current));
    this.#current = undefined;
    this.#retries = 0;
  }

  #continue(): void {
    if (this.#waiting.isEmpty && !this.#isCheckDue) this.#rest();
    else this.#options.origin.add(this);
    if (!this.isBackpressured) this.passRoom();
  }

  /** The writer may refuse it from now on: its bytes count among those of all queues until the router has accepted them. */
  #markBusy(): void {
    const { backpressured } = this.#options.writer;
    if (backpressured.has(this)) return;
    this.#blockedSince = performance.now();
    backpressured.add(this);
  }

  #dropWaiting(): void {
    this.#waiting = new Fifo();
    this.#options.writer.backpressured.delete(this);
    this.#count(-this.#queuedBytes);
    this.#current = undefined;
    this.#retries = 0;
    if (this.#retry === undefined) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#isBusy = false;
  }

  #count(bytes: number): void {
    this.#queuedBytes += bytes;
    this.#options.writer.count(bytes);
  }
}

function lengthOf({ prefix, result }: Message): number {
  return prefix.length + result.length;
}
