import type { Bus } from '../bus/bus.ts';
import type { Logger } from '../log.ts';
import { LogWindow } from '../log.ts';
import { Backlog } from './backlog.ts';
import type { Cursors } from './cursor.ts';
import { LiveChannel } from './live-channel.ts';
import type { ChannelObserver, ChannelServices } from './live-channel.ts';
import type { ExecuteEvent } from './sharing.ts';
import type { Subscription } from './subscription.ts';

export interface HubOptions {
  readonly bus: Bus;
  /** Begins an event of a group. */
  readonly begin: (payload: unknown) => ExecuteEvent;
  /** Signs events; undefined while there is no secret: they have no cursor then. */
  readonly cursors: () => Cursors | undefined;
  readonly log: Logger;
  readonly observer: ChannelObserver;
  /** Writes what results have put into outboxes. */
  readonly flush: () => void;
}

/** Who listens to what on this pod: one bus subscription per channel, however many operations want it. */
export class Hub {
  readonly #bus: Bus;
  readonly #services: ChannelServices;
  readonly #channels = new Map<string, LiveChannel>();

  constructor({ bus, begin, cursors, log, observer, flush }: HubOptions) {
    this.#bus = bus;
    this.#services = {
      begin,
      cursors,
      log,
      observer,
      backlog: new Backlog(flush),
      logWindow: new LogWindow(10_000),
    };
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  /**
   * Resolves once the subscription is live: every message published after that moment reaches it. It shares executions
   * with those of the channel that have its sharing key, with nobody where that is undefined.
   * @returns ends the subscription; the last one to leave gives the channel back to the bus. Idempotent.
   * @throws BusUnavailableError; the subscription is not in the hub then.
   */
  async join(name: string, sharingKey: string | undefined, subscription: Subscription): Promise<() => void> {
    const channel = this.#channels.get(name) ?? this.#open(name);
    channel.add(subscription, sharingKey);
    try {
      await channel.acknowledged;
    } catch (error) {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      throw error;
    }
    return () => {
      subscription.end();
      if (channel.delete(subscription, sharingKey) && channel.isEmpty) this.#close(channel);
    };
  }

  #open(name: string): LiveChannel {
    const channel = new LiveChannel(name, this.#services);
    channel.acknowledged = this.#bus.subscribe(name, channel.onMessage, channel.onGap);
    this.#channels.set(name, channel);
    return channel;
  }

  #close(channel: LiveChannel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
    channel.acknowledged?.then(
      (unsubscribe) => unsubscribe(),
      () => undefined, // never subscribed: join() has told its callers
    );
  }
}
