import type { Bus, Unsubscribe } from '../bus/bus.ts';
import type { Logger } from '../log.ts';
import { LogWindow } from '../log.ts';
import { executeForAll } from './sharing.ts';
import type { ExecuteEvent } from './sharing.ts';
import type { Subscription } from './subscription.ts';

export interface HubObserver {
  /** One message of a channel reached this pod. */
  onEvent(executions: number): void;
  /** A message that is not JSON: somebody else publishes on our channels. */
  onForeignMessage(): void;
}

export interface HubOptions {
  readonly bus: Bus;
  readonly execute: ExecuteEvent;
  readonly log: Logger;
  readonly observer: HubObserver;
}

interface Channel {
  readonly subscriptions: Set<Subscription>;
  /** Resolves once the bus acknowledged the channel. */
  readonly acknowledged: Promise<Unsubscribe>;
}

/** Who listens to what on this pod: one bus subscription per channel, however many operations want it. */
export class Hub {
  readonly #bus: Bus;
  readonly #execute: ExecuteEvent;
  readonly #log: Logger;
  readonly #logWindow = new LogWindow(10_000);
  readonly #observer: HubObserver;
  readonly #channels = new Map<string, Channel>();

  constructor({ bus, execute, log, observer }: HubOptions) {
    this.#bus = bus;
    this.#execute = execute;
    this.#log = log;
    this.#observer = observer;
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  /**
   * Resolves once the subscription is live: every message published after that moment reaches it.
   * @throws BusUnavailableError; the subscription is not in the hub then.
   */
  async join(name: string, subscription: Subscription): Promise<void> {
    let channel = this.#channels.get(name);
    if (!channel) {
      const subscriptions = new Set<Subscription>();
      channel = {
        subscriptions,
        acknowledged: this.#bus.subscribe(name, (message) => this.#onMessage(name, subscriptions, message)),
      };
      this.#channels.set(name, channel);
    }
    channel.subscriptions.add(subscription);
    try {
      await channel.acknowledged;
    } catch (error) {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      throw error;
    }
  }

  /** Ends the subscription; the last one to leave gives the channel back to the bus. Idempotent. */
  leave(name: string, subscription: Subscription): void {
    subscription.end();
    const channel = this.#channels.get(name);
    if (!channel?.subscriptions.delete(subscription) || channel.subscriptions.size > 0) return;
    this.#channels.delete(name);
    channel.acknowledged.then(
      (unsubscribe) => unsubscribe(),
      () => undefined, // never subscribed: join() has told its callers
    );
  }

  #onMessage(name: string, subscriptions: Set<Subscription>, message: string): void {
    let payload: unknown;
    try {
      payload = JSON.parse(message);
    } catch {
      this.#observer.onForeignMessage();
      this.#logWindow.run('foreign', (suppressed) =>
        this.#log.error(
          { channel: name, suppressed },
          'a message that is not JSON came from Redis: another program publishes on this channel prefix',
        ),
      );
      return;
    }
    this.#observer.onEvent(executeForAll(payload, subscriptions, this.#execute));
  }
}
