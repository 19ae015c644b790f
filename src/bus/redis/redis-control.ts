import { BusUnavailableError } from '../../errors.ts';
import type { Control, KeptText, StopListening } from '../control.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';
import { KEEP, runScript } from './redis-scripts.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';

export interface RedisControlOptions {
  readonly publisher: RedisLink;
  readonly subscriberLink: RedisLink;
  readonly subscriber: RedisSubscriber;
  /** Of channels and keys. */
  readonly prefix: string;
}

/** Texts of one script call: Redis serves nobody else meanwhile. */
const MAX_TEXTS_PER_CALL = 500;

/** Control messages over one Redis. No name has a `{`, which every channel of clients has. */
export class RedisControl implements Control {
  readonly #options: RedisControlOptions;
  /** By channel: called after a gap. */
  readonly #listening = new Map<string, () => void>();

  constructor(options: RedisControlOptions) {
    this.#options = options;
  }

  async send(name: string, text: string): Promise<void> {
    await this.#run((client) => client.publish(this.#channel(name), text));
  }

  async listen(name: string, onText: (text: string) => void, onGap: () => void): Promise<StopListening> {
    const { subscriber, subscriberLink } = this.#options;
    if (!subscriberLink.isUp) throw new BusUnavailableError(`Redis at ${subscriberLink.label} is unreachable`);
    const channel = this.#channel(name);
    const stop = () => {
      if (this.#listening.get(channel) !== onGap) return;
      this.#listening.delete(channel);
      subscriber.unsubscribe(channel);
    };
    this.#listening.set(channel, onGap);
    subscriber.subscribe(channel, (message) => onText(message.toString()));
    await subscriber.acknowledged(channel).catch((error: unknown) => {
      stop();
      throw error;
    });
    return stop;
  }

  async keep(name: string, texts: readonly KeptText[], max: number): Promise<number> {
    let refused = 0;
    for (let i = 0; i < texts.length; i += MAX_TEXTS_PER_CALL) {
      const pairs = texts.slice(i, i + MAX_TEXTS_PER_CALL).flatMap(({ text, untilMs }) => [text, untilMs]);
      refused += Number(await runScript(this.#options.publisher, KEEP, [this.#channel(name)], [max, ...pairs]));
    }
    return refused;
  }

  kept(name: string): Promise<string[]> {
    return this.#run((client) => client.zrange(this.#channel(name), `(${Date.now()}`, '+inf', 'BYSCORE'));
  }

  /** Channels that were without a subscription for a while and have one again. */
  onGap(channels: readonly string[]): void {
    for (const channel of channels) this.#listening.get(channel)?.();
  }

  #channel(name: string): string {
    return `${this.#options.prefix}${name}`;
  }

  async #run<T>(act: (client: RedisLink['client']) => Promise<T>): Promise<T> {
    const { client, isUp, label } = this.#options.publisher;
    if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`);
    try {
      return await act(client);
    } catch (error) {
      throw new BusUnavailableError(`Redis at ${label} failed a control message: ${describe(error as Error)}`);
    }
  }
}
