import { BusUnavailableError } from '../../base/errors.ts';
import type { Control, KeptText, StopListening } from '../control.ts';
import { describe } from './reply-error.ts';
import type { RedisLink } from './redis-link.ts';
import { runScript } from './redis-scripts.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';

export interface RedisControlOptions {
  /** Of all control messages. */
  readonly tag: RedisTag;
  readonly subscriber: RedisSubscriber;
}

/** Texts of one script call: Redis serves nobody else meanwhile. */
const MAX_TEXTS_PER_CALL = 500;

/** Control messages over Redis. After the prefix no name has a `{`, which every channel of clients has. */
export class RedisControl implements Control {
  readonly #options: RedisControlOptions;
  /** By channel: called after a gap. */
  readonly #listening = new Map<string, () => void>();

  constructor(options: RedisControlOptions) {
    this.#options = options;
  }

  async send(name: string, text: string): Promise<void> {
    await this.#run((client) => client[this.#options.tag.publishCommand](this.#channel(name), text));
  }

  async listen(name: string, onText: (text: string) => void, onGap: () => void): Promise<StopListening> {
    const { subscriber, tag } = this.#options;
    const channel = this.#channel(name);
    if (!subscriber.canReach(channel)) throw new BusUnavailableError(`Redis at ${tag.publisher.label} is unreachable`);
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
      const { publisher, scripts } = this.#options.tag;
      refused += Number(await runScript(publisher, scripts.keep, [this.#channel(name)], [max, ...pairs]));
    }
    return refused;
  }

  kept(name: string): Promise<string[]> {
    return this.#run((client) => client.zrange(this.#channel(name), `(${Date.now()}`, '+inf', 'BYSCORE'));
  }

  /** Channels that were without a subscription for a while and have one again. Their names are without the tag. */
  onGap(channels: readonly string[]): void {
    for (const channel of channels) this.#listening.get(this.#options.tag.name + channel)?.();
  }

  #channel(name: string): string {
    return `${this.#options.tag.prefix}${name}`;
  }

  async #run<T>(act: (client: RedisLink['client']) => Promise<T>): Promise<T> {
    const { publisher } = this.#options.tag;
    if (!publisher.isUp) throw new BusUnavailableError(`Redis at ${publisher.label} is unreachable`);
    try {
      return await act(publisher.client);
    } catch (error) {
      const message = `Redis at ${publisher.label} failed a control message: ${describe(error as Error)}`;
      throw new BusUnavailableError(message, { reason: publisher.failureOf(error as Error) });
    }
  }
}
