import { randomUUID } from 'node:crypto';
import { parseCredit, parseMark, printCredit, printMark } from '../../flow/mark.ts';
import type { Credit, Mark } from '../../flow/mark.ts';
import type { Receiver } from '../../flow/receiver.ts';
import type { Sender } from '../../flow/sender.ts';
import type { RedisLink } from './redis-link.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';

export interface RedisFlowOptions {
  readonly publisher: RedisLink;
  readonly subscriber: RedisSubscriber;
  /** Of channel names. */
  readonly prefix: string;
  readonly sender: Sender;
}

/**
 * Flow control over one Redis. Marks go out on one channel for all gateways, by `lua/publish.lua`, so that they arrive after the messages
 * that they count. Credits go to a channel of each worker. Neither name has a `{`, which every channel of clients has.
 */
export class RedisFlow {
  readonly markChannel: string;
  readonly #options: RedisFlowOptions;
  readonly #worker = randomUUID();
  #streams = 0;

  constructor(options: RedisFlowOptions) {
    this.#options = options;
    this.markChannel = `${options.prefix}flow`;
  }

  /** A name that no other stream has; a worker can be reached by it. */
  nextStream(): string {
    const { sender, subscriber } = this.#options;
    if (sender.isEnabled && this.#streams === 0) {
      subscriber.subscribe(this.#creditChannel(this.#worker), (message) => {
        const credit = parseCredit(message.toString());
        if (credit) sender.onCredit(credit);
      });
    }
    return `${this.#worker}.${++this.#streams}`;
  }

  /** Asks all gateways. */
  ask(mark: Mark): void {
    this.#publish(this.markChannel, printMark(mark));
  }

  /** Answers marks, until it calls what is returned. Idempotent. */
  receive(receiver: Receiver): () => void {
    const { publisher, subscriber } = this.#options;
    subscriber.subscribe(this.markChannel, (message) => {
      const mark = parseMark(message.toString());
      const credit = mark && receiver.onMark(publisher.label, mark);
      if (credit) this.#send(credit);
    });
    return () => {
      subscriber.unsubscribe(this.markChannel);
      for (const credit of receiver.finalCredits(publisher.label)) this.#send(credit);
    };
  }

  #send(credit: Credit): void {
    const [worker] = credit.stream.split('.', 1);
    this.#publish(this.#creditChannel(worker!), printCredit(credit));
  }

  #creditChannel(worker: string): string {
    return `${this.markChannel}:${worker}`;
  }

  /** Best effort: a mark or a credit that is lost is followed by another one while a worker waits. */
  #publish(channel: string, text: string): void {
    const { client, isUp } = this.#options.publisher;
    if (isUp) client.publish(channel, text).catch(() => undefined);
  }
}
