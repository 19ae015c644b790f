import type { Unsubscribe } from '../bus/bus.ts';
import { channelLabel } from '../bus/channel.ts';
import type { Coordinates } from '../bus/coordinates.ts';
import type { LogWindow, Logger } from '../log.ts';
import type { Backlog } from './backlog.ts';
import { Continuity } from './continuity.ts';
import type { Cursors } from './cursor.ts';
import { SharingGroup } from './sharing.ts';
import type { ExecuteEvent } from './sharing.ts';
import type { Subscription } from './subscription.ts';

export interface ChannelObserver {
  /** One message of a channel reached this pod. */
  onEvent(): void;
  /** A message that is not JSON: somebody else publishes on our channels. */
  onForeignMessage(): void;
  /** A message that was shown before, or is older than what was: it is discarded. */
  onStale(): void;
  /** So many operations are told that events may be missing. */
  onGap(operations: number): void;
}

/** Shared by all channels of a hub. */
export interface ChannelServices {
  /** Begins an event of a group. */
  readonly begin: (payload: unknown) => ExecuteEvent;
  /** undefined: events have no cursor. */
  readonly cursors: () => Cursors | undefined;
  readonly backlog: Backlog;
  readonly log: Logger;
  readonly logWindow: LogWindow;
  readonly observer: ChannelObserver;
}

/** One event of a channel. */
interface ChannelEvent {
  /** Parsed. */
  readonly payload: unknown;
  readonly cursor: string | undefined;
  /** Characters of its text. */
  readonly length: number;
}

/** Who listens to one channel on this pod, and what of it was shown. */
export class LiveChannel {
  readonly name: string;
  /** Resolves once the bus acknowledged the channel. */
  acknowledged: Promise<Unsubscribe> | undefined;
  readonly #services: ChannelServices;
  /** By sharing key; a subscription that shares with nobody is a group of its own. */
  readonly #groups = new Map<string | Subscription, SharingGroup>();
  readonly #continuity = new Continuity();

  constructor(name: string, services: ChannelServices) {
    this.name = name;
    this.#services = services;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  add(subscription: Subscription, sharingKey: string | undefined): void {
    const key = sharingKey ?? subscription;
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = new SharingGroup(key)));
    group.members.add(subscription);
  }

  delete(subscription: Subscription, sharingKey: string | undefined): boolean {
    const group = this.#groups.get(sharingKey ?? subscription);
    if (!group?.delete(subscription)) return false;
    if (group.members.size === 0) this.#groups.delete(group.key);
    return true;
  }

  /** A message of the bus. */
  readonly onMessage = (text: string, coordinates?: Coordinates): void => {
    const event = this.#eventOf(text, coordinates);
    if (!event) return;
    const verdict = coordinates ? this.#continuity.observe(coordinates) : 'next';
    if (verdict === 'stale') return this.#services.observer.onStale();
    if (verdict === 'gap') this.#tellGap();
    this.#services.observer.onEvent();
    this.#show(event);
  };

  /** The bus was without the channel for a while. */
  readonly onGap = (): void => this.#tellGap();

  /** Messages may be missing: each operation is told with its next event. */
  #tellGap(): void {
    let operations = 0;
    for (const { members } of this.#groups.values()) {
      for (const member of members) member.note('"gap":true');
      operations += members.size;
    }
    this.#services.observer.onGap(operations);
  }

  #eventOf(text: string, coordinates: Coordinates | undefined): ChannelEvent | undefined {
    const { cursors, observer, log, logWindow } = this.#services;
    try {
      const payload: unknown = JSON.parse(text);
      const cursor = coordinates && cursors()?.sign(this.name, { ...coordinates, entry: '' });
      return { payload, cursor, length: text.length };
    } catch {
      observer.onForeignMessage();
      logWindow.run('foreign', (suppressed) =>
        log.error(
          { channel: channelLabel(this.name), suppressed },
          'a message that is not JSON came from Redis: another program publishes on this channel prefix',
        ),
      );
      return undefined;
    }
  }

  /** Executes an event for all who are in the groups now, in its turn. */
  #show({ payload, cursor, length }: ChannelEvent): void {
    const { backlog, begin } = this.#services;
    const share = Math.ceil(length / this.#groups.size);
    for (const group of this.#groups.values()) backlog.add(group, begin(payload), cursor, share);
    backlog.keepBound();
  }
}
