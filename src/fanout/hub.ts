import type { Bus, Unsubscribe } from '../bus/bus.ts';
import { channelLabel } from '../bus/channel.ts';
import type { Logger } from '../log.ts';
import { LogWindow } from '../log.ts';
import { EventBatch } from './event-batch.ts';
import type { EventBatchOwner } from './event-batch.ts';
import { Slices } from './slices.ts';
import type { Job } from './slices.ts';
import { SharedEvent, SharingGroup } from './sharing.ts';
import type { ExecuteEvent } from './sharing.ts';
import type { Subscription } from './subscription.ts';

export interface HubObserver {
  /** One message of a channel reached this pod. */
  onEvent(): void;
  /** A message that is not JSON: somebody else publishes on our channels. */
  onForeignMessage(): void;
}

export interface HubOptions {
  readonly bus: Bus;
  /** Begins an event of a group. */
  readonly begin: (payload: unknown) => ExecuteEvent;
  readonly log: Logger;
  readonly observer: HubObserver;
  /** Writes what results have put into outboxes. */
  readonly flush: () => void;
}

/** By sharing key; a subscription that shares with nobody is a group of its own. */
type Groups = Map<string | Subscription, SharingGroup>;

/** For how long, in ms, one turn of the event loop may execute events; then sockets and timers have their turn. */
const SLICE_MS = 10;
/** Characters of events that may wait for their slice; with more, they are finished at once and Redis waits. */
const MAX_BACKLOG_LENGTH = 8 * 1024 * 1024;

interface Channel {
  readonly groups: Groups;
  /** Resolves once the bus acknowledged the channel. */
  readonly acknowledged: Promise<Unsubscribe>;
}

/** Who listens to what on this pod: one bus subscription per channel, however many operations want it. */
export class Hub {
  readonly #bus: Bus;
  readonly #begin: HubOptions['begin'];
  readonly #log: Logger;
  readonly #logWindow = new LogWindow(10_000);
  readonly #observer: HubObserver;
  readonly #channels = new Map<string, Channel>();
  readonly #flush: () => void;
  readonly #slices: Slices;
  #backlogLength = 0;

  constructor({ bus, begin, log, observer, flush }: HubOptions) {
    this.#bus = bus;
    this.#begin = begin;
    this.#log = log;
    this.#observer = observer;
    this.#flush = flush;
    this.#slices = new Slices(SLICE_MS, flush);
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
    let channel = this.#channels.get(name);
    if (!channel) {
      const groups: Groups = new Map();
      channel = {
        groups,
        acknowledged: this.#bus.subscribe(name, (message) => this.#onMessage(name, groups, message)),
      };
      this.#channels.set(name, channel);
    }
    const key = sharingKey ?? subscription;
    let group = channel.groups.get(key);
    if (!group) channel.groups.set(key, (group = new SharingGroup(key)));
    group.members.add(subscription);
    try {
      await channel.acknowledged;
    } catch (error) {
      if (this.#channels.get(name) === channel) this.#channels.delete(name);
      throw error;
    }
    return () => this.#leave(name, channel, group, subscription);
  }

  #leave(name: string, channel: Channel, group: SharingGroup, subscription: Subscription): void {
    subscription.end();
    if (!group.delete(subscription) || group.members.size > 0) return;
    channel.groups.delete(group.key);
    if (channel.groups.size > 0) return;
    if (this.#channels.get(name) === channel) this.#channels.delete(name);
    channel.acknowledged.then(
      (unsubscribe) => unsubscribe(),
      () => undefined, // never subscribed: join() has told its callers
    );
  }

  #onMessage(name: string, groups: Groups, message: string): void {
    let payload: unknown;
    try {
      payload = JSON.parse(message);
    } catch {
      this.#observer.onForeignMessage();
      this.#logWindow.run('foreign', (suppressed) =>
        this.#log.error(
          { channel: channelLabel(name), suppressed },
          'a message that is not JSON came from Redis: another program publishes on this channel prefix',
        ),
      );
      return;
    }
    this.#observer.onEvent();
    const length = Math.ceil(message.length / groups.size);
    for (const group of groups.values()) {
      if (!group.batch?.isOpen) {
        group.batch = new EventBatch(group, this.#batchOwner);
        this.#slices.add(group.batch.serve);
      }
      group.batch.add(new SharedEvent(group, this.#begin(payload), this.#onMore), length);
      this.#backlogLength += length;
    }
    if (this.#backlogLength > MAX_BACKLOG_LENGTH) this.#slices.finish();
  }

  readonly #batchOwner: EventBatchOwner = {
    onShared: () => {
      if (this.#slices.hasOneJob) this.#flush();
    },
    onServed: (length) => {
      this.#backlogLength -= length;
    },
  };

  readonly #onMore = (serve: Job): void => this.#slices.add(serve);
}
