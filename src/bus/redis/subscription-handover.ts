import { Command } from 'ioredis';
import type { Redis } from 'ioredis';

/** A message that divides what the old connection delivers from what the new one does. */
export interface Divider {
  /** A channel of its own, which nobody else uses. */
  readonly channel: string;
  readonly kind: Kind;
  /** Publishes an empty message on the channel, by a third connection to the same server. */
  readonly publish: () => Promise<unknown>;
}

type Kind = 'subscribe' | 'ssubscribe';
type Receiver = (name: Buffer, message: Buffer) => void;

const KINDS = { subscribe: 'messageBuffer', ssubscribe: 'smessageBuffer' } as const;
const EVENTS = Object.values(KINDS);
const MAX_CHANNELS_PER_COMMAND = 512;
const TIMEOUT_MS = 4000;

/**
 * Moves the subscriptions of a connection, and the receivers of their messages, to another connection of the same server. No message is
 * lost, doubled or reordered: both are subscribed for a while, and Redis delivers all messages to both in one order, in which the mark is
 * one. Before the mark the receivers get those of `from`, after it those of `to`.
 *
 * Nobody subscribes or unsubscribes on `from` meanwhile.
 *
 * @throws Error if a connection closes, Redis refuses a channel or 4 s pass; then `from` has its receivers, and is closed if it had passed
 * the mark
 */
export async function handOver(from: Redis, to: Redis, mark: Divider): Promise<void> {
  const passage = new DividerPassage(from, to, mark.channel);
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  const onClose = () => fail(new Error('a connection was closed'));
  for (const client of [from, to]) client.once('close', onClose);
  const timer = setTimeout(() => fail(new Error(`not done within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    await Promise.race([moveAll(from, to, mark, passage), failed]);
  } catch (error) {
    passage.undo();
    throw error;
  } finally {
    clearTimeout(timer);
    for (const client of [from, to]) client.off('close', onClose);
  }
}

async function moveAll(
  from: Redis,
  to: Redis,
  { channel, kind, publish }: Divider,
  passage: DividerPassage,
): Promise<void> {
  // Redis replies in order: with this reply, those to all earlier commands have come.
  await from.sendCommand(new Command(kind, [channel]));
  const subscribed = from.condition?.subscriber;
  const commands = (['subscribe', 'ssubscribe'] as const).flatMap((each) =>
    chunksOf(each, subscribed ? subscribed.channels(each) : []).map((names) => new Command(each, names)),
  );
  await Promise.all(commands.map((command) => to.sendCommand(command)));
  await publish();
  await passage.done;
}

/** Gives the receivers the messages of the one connection until the mark, and then those of the other. */
class DividerPassage {
  /** Resolves when both connections have passed the mark. */
  readonly done: Promise<void>;
  readonly #from: Redis;
  readonly #to: Redis;
  readonly #name: Buffer;
  readonly #receivers: readonly (readonly [event: (typeof EVENTS)[number], receiver: Receiver])[];
  readonly #gates: (readonly [client: Redis, event: (typeof EVENTS)[number], gate: Receiver])[] = [];
  /** Messages of `to` after the mark, until `from` has passed it. */
  readonly #waiting: { event: string; name: Buffer; message: Buffer }[] = [];
  #hasFromPassed = false;
  #hasToPassed = false;
  #onDone: () => void = () => undefined;

  constructor(from: Redis, to: Redis, channel: string) {
    this.#from = from;
    this.#to = to;
    this.#name = Buffer.from(channel);
    this.#receivers = EVENTS.flatMap((event) =>
      (from.listeners(event) as Receiver[]).map((receiver) => [event, receiver] as const),
    );
    this.done = new Promise((resolve) => (this.#onDone = resolve));
    for (const event of EVENTS) {
      this.#gate(from, event, (name) => this.#onFrom(name));
      this.#gate(to, event, (name, message) => this.#onTo(event, name, message));
    }
  }

  /** The receivers are those of `from` again. If it had passed the mark, they have missed messages: `from` is closed. */
  undo(): void {
    this.#removeGates();
    for (const [event, receiver] of this.#receivers) {
      for (const client of [this.#from, this.#to]) client.off(event, receiver);
      this.#from.on(event, receiver);
    }
    if (this.#hasFromPassed) this.#from.stream.destroy();
  }

  #gate(client: Redis, event: (typeof EVENTS)[number], gate: Receiver): void {
    this.#gates.push([client, event, gate]);
    client.on(event, gate);
  }

  #removeGates(): void {
    for (const [client, event, gate] of this.#gates.splice(0)) client.off(event, gate);
  }

  #onFrom(name: Buffer): void {
    if (!name.equals(this.#name)) return;
    this.#hasFromPassed = true;
    for (const [event, receiver] of this.#receivers) this.#from.off(event, receiver);
    if (this.#hasToPassed) this.#finish();
  }

  #onTo(event: string, name: Buffer, message: Buffer): void {
    if (this.#hasToPassed) return void this.#waiting.push({ event, name, message });
    if (!name.equals(this.#name)) return;
    this.#hasToPassed = true;
    if (this.#hasFromPassed) this.#finish();
  }

  #finish(): void {
    this.#removeGates();
    for (const { event, name, message } of this.#waiting.splice(0)) {
      for (const [of, receiver] of this.#receivers) if (of === event) receiver(name, message);
    }
    for (const [event, receiver] of this.#receivers) this.#to.on(event, receiver);
    this.#onDone();
  }
}

/** What one command has. In a Redis Cluster a command for sharded channels has channels of one hash tag. */
function chunksOf(kind: Kind, names: readonly string[]): string[][] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const tag = kind === 'ssubscribe' ? (/\{([^}]+)\}/.exec(name)?.[1] ?? name) : '';
    const group = groups.get(tag);
    if (group) group.push(name);
    else groups.set(tag, [name]);
  }
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / MAX_CHANNELS_PER_COMMAND) }, (_, i) =>
      group.slice(i * MAX_CHANNELS_PER_COMMAND, (i + 1) * MAX_CHANNELS_PER_COMMAND),
    ),
  );
}
