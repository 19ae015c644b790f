import { randomUUID } from 'node:crypto';
import { parseCredit, parseMark, printCredit, printMark } from '../../flow/mark.ts';
import type { Credit, Mark } from '../../flow/mark.ts';
import type { Receiver } from '../../flow/receiver.ts';
import type { Sender } from '../../flow/sender.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';

export interface RedisFlowOptions {
  readonly tags: readonly RedisTag[];
  readonly subscriber: RedisSubscriber;
  readonly sender: Sender;
}

/**
 * Flow control over Redis. Marks go out on one channel of each tag for all gateways, by `lua/publish.lua`, so that they arrive after the
 * messages that they count (in a cluster, messages of the same chunk from other nodes may arrive later). Credits go to a channel of each
 * worker, of the tag by which the mark came. After the prefix no name has a `{`, which every channel of clients has.
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
    if (tag) publish(tag, markChannel(tag), printMark(mark));
  }

  /** Answers marks, until it calls what is returned. Idempotent. */
  receive(receiver: Receiver): () => void {
    const { tags, subscriber } = this.#options;
    for (const tag of tags) {
      subscriber.subscribe(markChannel(tag), (message) => {
        const mark = parseMark(message.toString());
        const credit = mark && receiver.onMark(mark);
        if (credit) send(tag, credit);
      });
    }
    return () => {
      for (const tag of tags) subscriber.unsubscribe(markChannel(tag));
      const tag = this.#liveTag();
      if (tag) for (const credit of receiver.finalCredits()) send(tag, credit);
    };
  }

  #liveTag(): RedisTag | undefined {
    return this.#options.tags.find(({ publisher }) => publisher.isUp);
  }
}

export function markChannel({ prefix }: RedisTag): string {
  return `${prefix}flow`;
}

function creditChannel({ prefix }: RedisTag, worker: string): string {
  return `${prefix}flow:${worker}`;
}

function send(tag: RedisTag, credit: Credit): void {
  const [worker] = credit.stream.split('.', 1);
  publish(tag, creditChannel(tag, worker!), printCredit(credit));
}

/** Best effort: a mark or a credit that is lost is followed by another one while a worker waits. */
function publish({ publisher: { client, isUp }, publishCommand }: RedisTag, channel: string, text: string): void {
  if (isUp) client[publishCommand](channel, text).catch(() => undefined);
}
