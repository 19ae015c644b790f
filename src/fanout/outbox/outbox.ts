import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { ResultBytes, frameLength, writeFrames, writeHeader } from './frame.ts';
import type { Message } from './frame.ts';
import type { Writer } from './writer.ts';

export interface OutboxOwner {
  /** Closes the connection. */
  onSlowConsumer(): void;
  /** A write threw: nobody knows which bytes have left, so the connection cannot go on. Must not throw. */
  onWriteFailure(error: unknown): void;
}

/** What is copied into one write at most, in bytes; a larger message is written as it is. */
export const MAX_BATCH_BYTES = 64 * 1024;

/** A queue holds so many of the largest message that waits, so that a peer that reads is not closed for two large ones. */
const MIN_QUEUED_MESSAGES = 4;

const NOTHING = Buffer.alloc(0);

/**
 * Everything that leaves for one connection, in order: what one turn of the event loop produced leaves in one write. What
 * the peer does not read stays here, as references to shared bytes, up to a bound; past it the peer is a slow consumer and
 * its connection is closed. No other connection waits.
 *
 * Whole frames go to the socket under `ws`, past `ws.send()`, which takes a write for each message and its bytes for each
 * socket. That is sound because `ws` itself writes whole frames, too (pings, pongs, the close frame: nothing here is
 * compressed or fragmented), each in one synchronous step; and because a close is announced here before: `flush()`.
 */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #writer: Writer;
  readonly #owner: OutboxOwner;
  readonly #isEncrypted: boolean;
  /** Messages that are not written yet. */
  #messages: Message[] | undefined;
  /** Of those, and of a write that the operating system has not taken yet. */
  #queuedBytes = 0;
  #bytesInFlight = 0;
  #behindSince = 0;
  /** Writes whose callbacks have not come. */
  #unconfirmed = 0;
  /** Whether the last write was taken at once; then the memory that it came from is free again. */
  #isPrompt: boolean;
  #isScheduled = false;
  #isSlow = false;

  /** `stream`: what `socket` writes to, the upgrade's socket. */
  constructor(socket: WebSocket, stream: Duplex, writer: Writer, owner: OutboxOwner) {
    this.#socket = socket;
    this.#stream = stream;
    this.#writer = writer;
    this.#owner = owner;
    this.#isEncrypted = 'encrypted' in stream;
    this.#isPrompt = !this.#isEncrypted;
  }

  /** Bytes of messages that the operating system has not taken. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Whether the operating system takes no more for now: the peer does not read as fast as we write. */
  get isBehind(): boolean {
    return this.#bytesInFlight > 0;
  }

  /** When the write began that the operating system has not taken, of performance.now(). */
  get behindSince(): number {
    return this.#behindSince;
  }

  /** Takes a text message. */
  send(message: string): boolean {
    return this.sendParts(NOTHING, new ResultBytes([Buffer.from(message)]));
  }

  /**
   * Takes a text message, whose parts must not change any more.
   * @returns whether it was accepted: not on a connection that is closing, or that this message made slow
   */
  sendParts(prefix: Buffer, result: ResultBytes): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    const message = { prefix, result: this.isBehind ? result.whole : result };
    if (this.#messages) this.#messages.push(message);
    else this.#messages = [message];
    this.#count(lengthOf(message));
    if (this.#queuedBytes > this.#writer.maxQueueBytes) {
      this.write();
      if (this.#queuedBytes > Math.max(this.#writer.maxQueueBytes, MIN_QUEUED_MESSAGES * this.#largestWaiting())) {
        this.refuse();
        return false;
      }
    }
    if (!this.#isScheduled && !this.isBehind) {
      this.#isScheduled = true;
      this.#writer.schedule(this);
    }
    this.#writer.keepBound();
    return !this.#isSlow;
  }

  /** In bytes, of the messages that wait and the write that is under way. Looked for only past the bound: it costs no delivery. */
  #largestWaiting(): number {
    const lengths = this.#messages?.map(lengthOf) ?? [];
    return lengths.reduce((largest, length) => Math.max(largest, length), this.#bytesInFlight);
  }

  /** The peer, or what is computed for it, cannot keep up. Idempotent. */
  refuse(): void {
    if (this.#isSlow) return;
    this.#isSlow = true;
    this.drop();
    this.#owner.onSlowConsumer();
  }

  /** Its turn has come (`Writer`). */
  onTurn(): void {
    this.#isScheduled = false;
    this.write();
  }

  /** Writes all that the operating system takes. */
  write(): void {
    try {
      while (this.#messages && !this.isBehind) this.#writeBatch(this.#messages);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Hands over everything, to a peer that is behind, too: what `ws` writes next comes after it. */
  flush(): void {
    this.write();
    const messages = this.#messages;
    if (!messages || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#messages = undefined;
    try {
      this.#stream.cork();
      for (const message of messages) this.#writeLarge(message);
      this.#stream.uncork();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Forgets what is not written: the connection is gone, or as good as gone. */
  drop(): void {
    this.#messages = undefined;
    this.#bytesInFlight = 0;
    this.#count(-this.#queuedBytes);
    this.#writer.behind.delete(this);
  }

  /** The error boundary of writes: it ends this connection, and nothing else. */
  #fail(error: unknown): void {
    this.drop();
    this.#owner.onWriteFailure(error);
  }

  #writeBatch(messages: readonly Message[]): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return this.drop();
    let bytes = 0;
    let next = 0;
    while (next < messages.length) {
      const length = lengthOf(messages[next]!);
      if (bytes + length > MAX_BATCH_BYTES) break;
      bytes += length;
      next++;
    }
    let isTaken: boolean;
    if (next > 0)
      isTaken = this.#hand(this.#framesOf(next === messages.length ? messages : messages.slice(0, next), bytes));
    else {
      next = 1;
      bytes = lengthOf(messages[0]!);
      this.#stream.cork();
      this.#writeLarge(messages[0]!);
      this.#stream.uncork();
      isTaken = this.#stream.writableLength === 0;
    }
    this.#messages = next === messages.length ? undefined : messages.slice(next);
    if (!isTaken) this.#messages = this.#messages?.map((message) => ({ ...message, result: message.result.whole }));
    this.#onWrite(bytes, isTaken);
  }

  #framesOf(messages: readonly Message[], bytes: number): Buffer {
    if (this.#isPrompt) return this.#writer.scratch.write(messages, bytes);
    const frames = Buffer.allocUnsafeSlow(bytes);
    writeFrames(frames, messages);
    return frames;
  }

  /**
   * Hands frames over; returns whether the operating system has taken them. Where nothing waits in the stream they go past its queue,
   * whose bookkeeping costs as much as all that is done here for a message: the socket's own `_write` is what the queue would call,
   * and calls back at once when all is taken. TLS takes one write at a time, so there the queue stays.
   */
  #hand(frames: Buffer): boolean {
    const stream = this.#stream;
    const unconfirmed = this.#unconfirmed++;
    if (this.#isEncrypted || stream.writableLength > 0) {
      stream.write(frames, this.#onWritten);
      return stream.writableLength === 0;
    }
    stream._write(frames, 'buffer' as BufferEncoding, this.#onWritten);
    return this.#unconfirmed === unconfirmed;
  }

  #onWrite(bytes: number, isTaken: boolean): void {
    if (isTaken) this.#count(-bytes);
    else {
      this.#bytesInFlight = bytes;
      this.#behindSince = performance.now();
      this.#writer.behind.add(this);
      if (this.#isPrompt) this.#writer.scratch.detach();
    }
    this.#isPrompt = isTaken;
  }

  /** A message by reference. */
  #writeLarge({ prefix, result }: Message): void {
    const length = prefix.length + result.length;
    const start = Buffer.allocUnsafe(frameLength(length) - result.length);
    start.set(prefix, writeHeader(start, 0, length));
    this.#stream.write(start);
    for (const piece of result.pieces) {
      this.#unconfirmed++;
      this.#stream.write(piece, this.#onWritten);
    }
  }

  /** The stream calls this for each write, also when the socket is destroyed. */
  readonly #onWritten = (error?: Error | null): void => {
    if (error) this.#stream.destroy(error);
    if (--this.#unconfirmed > 0 || this.#bytesInFlight === 0) return;
    this.#count(-this.#bytesInFlight);
    this.#bytesInFlight = 0;
    this.#writer.behind.delete(this);
    this.write();
  };

  #count(bytes: number): void {
    this.#queuedBytes += bytes;
    this.#writer.count(bytes);
  }
}

function lengthOf({ prefix, result }: Message): number {
  return frameLength(prefix.length + result.length);
}
