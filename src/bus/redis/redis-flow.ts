import { randomUUID } from 'node:crypto';
import { parseCredit, parseMark, printCredit, printMark } from '../flow/mark.ts';
import type { Credit, Mark } from '../flow/mark.ts';
import type { Receiver } from '../flow/receiver.ts';
import type { Sender } from '../flow/sender.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';

export interface RedisFlowOptions {
  readonly tags: readonly RedisTag[];
  /** The tag of a name. */
  readonly tagOf: (name: string) => RedisTag;
  readonly subscriber: RedisSubscriber;
  readonly sender: Sender;
}

/**
 * Flow control over Redis. Marks go out on one channel of each tag for all gateways, by `lua/publish.lua`, so that they arrive after the
 * messages that they count (in a cluster, messages of the same chunk from other nodes may arrive later). Credits go to a channel of each
 * worker, of the tag by which the mark came. Each gateway has a channel, too, by whose subscription a worker sees that it is there: Redis
 * ends the subscription of a gateway that was killed at once. After the prefix no name has a `{`, which every channel of clients has.
 */
export class RedisFlow {
  readonly #options: RedisFlowOptions;
  readonly #worker = randomUUID();
  #streams = 0;

  constructor(options: RedisFlowOptions) {
    this.#options = options;
  }

  /** A name that no other stream has; a worker can be reached by it. */
  nextStream(): string {
    const { sender, subscriber, tags } = this.#options;
    if (sender.isEnabled && this.#streams === 0) {
      for (const tag of tags) {
        subscriber.subscribe(creditChannel(tag, this.#worker), (message) => {
          const credit = parseCredit(message.toString());
          if (credit) sender.onCredit(credit);
        });
      }
    }
    return `${this.#worker}.${++this.#streams}`;
  }

  /** Asks all gateways. */
  ask(mark: Mark): void {
    const tag = this.#liveTag();
    if (tag) void publish(tag, markChannel(tag), printMark(mark));
  }

  /** Finds out whether a gateway is subscribed. */
  seek(gateway: string): void {
    const tag = this.#options.tagOf(gateway);
    void publish(tag, gatewayChannel(tag, gateway), '').then((receivers) => {
      if (receivers !== undefined) this.#options.sender.onSought(gateway, receivers > 0);
    });
  }

  /** Answers marks, until it calls what is returned. Idempotent. */
  receive(receiver: Receiver): () => void {
    const { tags, tagOf, subscriber } = this.#options;
    const own = gatewayChannel(tagOf(receiver.gateway), receiver.gateway);
    // Workers take a gateway that is subscribed to these channels for one that is subscribed to all of its channels again.
    subscriber.subscribeLast(own, () => undefined);
    for (const tag of tags) {
      subscriber.subscribeLast(markChannel(tag), (message) => {
        const mark = parseMark(message.toString());
        const credit = mark && receiver.onMark(mark);
        if (credit) send(tag, credit);
      });
    }
    return () => {
      subscriber.unsubscribe(own);
      for (const tag of tags) subscriber.unsubscribe(markChannel(tag));
      const tag = this.#liveTag();
      if (tag) for (const credit of receiver.finalCredits()) send(tag, credit);
    };
  }

  #liveTag(): RedisTag | undefined {
    return this.#options.tags.find(({ publisher }) => publisher.isUp);
  }
}

/** Counts the gateways that are subscribed on the tag's server; undefined: it does not answer. They ignore the empty mark. */
export function countGateways(tag: RedisTag): Promise<number | undefined> {
  return publish(tag, markChannel(tag), '');
}

export function markChannel({ prefix }: RedisTag): string {
  return `${prefix}flow`;
}

function creditChannel({ prefix }: RedisTag, worker: string): string {
  return `${prefix}flow:${worker}`;
}

function gatewayChannel({ prefix }: RedisTag, gateway: string): string {
  return `${prefix}flow:${gateway}`;
}

function send(tag: RedisTag, credit: Credit): void {
  const [worker] = credit.stream.split('.', 1);
  void publish(tag, creditChannel(tag, worker!), printCredit(credit));
}

/**
 * Best effort: a mark or a credit that is lost is followed by another one while a worker waits. Resolves with the number of subscribers
 * that received it; undefined: Redis did not accept it.
 */
async function publish(
  { publisher, publishCommand }: RedisTag,
  channel: string,
  text: string,
): Promise<number | undefined> {
  if (!publisher.isUp) return undefined;
  return (await publisher.client[publishCommand](channel, text).catch(() => undefined)) as number | undefined;
}
