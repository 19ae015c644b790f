import type { Unsubscribe } from '../bus/bus.ts';
import { channelLabel } from '../bus/channel.ts';
import type { Coordinates } from '../bus/coordinates.ts';
import type { History, HistoryEntry } from '../bus/history.ts';
import { Executing } from '../flow/executing.ts';
import type { ChannelLoad } from '../flow/executing.ts';
import type { Intake } from '../flow/intake.ts';
import { TextPayload } from '../graph/payload.ts';
import type { Payload } from '../graph/payload.ts';
import type { LogWindow, Logger } from '../log.ts';
import type { Backlog } from './backlog.ts';
import { Continuity } from './continuity.ts';
import type { CursorPlace, Cursors } from './resume/cursor.ts';
import type { ExecutionDeadlines } from './execution-deadlines.ts';
import type { HeldBytes } from './resume/held-bytes.ts';
import { heldLength } from './resume/held-events.ts';
import type { Missed } from './resume/history-reads.ts';
import type { Joining } from './resume/joining.ts';
import { Replay } from './resume/replay.ts';
import type { Replays } from './resume/replays.ts';
import { SharingGroup } from './sharing/sharing.ts';
import type { ExecuteEvent } from './sharing/sharing.ts';
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
  /** A client wanted to go on behind an event: it got all that came since, or was told that it did not. */
  onResume(isResumed: boolean): void;
}

export interface ChannelFlow {
  /** Of a partition of the channel's topic. */
  intake(channel: string, partition: number): Intake;
  /** Of a channel, which keeps it. */
  load(): ChannelLoad;
}

/** Shared by all channels of a hub. */
export interface ChannelServices {
  /** Starts an event for a group. */
  readonly startEvent: (payload: Payload) => ExecuteEvent;
  /** undefined: events have no cursor. */
  readonly cursors: () => Cursors | undefined;
  /** All that the history has behind an event; undefined where it cannot be proved to be all. Never rejects. */
  readonly missed: (channel: string, seen: CursorPlace) => Promise<readonly HistoryEntry[] | undefined>;
  /** A history from an entry on, or the last entry; undefined where the bus does not answer. Never rejects. */
  readonly read: (channel: string, from: string | undefined) => Promise<History | undefined>;
  readonly backlog: Backlog;
  /** undefined: flow control is off. */
  readonly flow: ChannelFlow | undefined;
  /** Of executions. */
  readonly deadlines: ExecutionDeadlines;
  readonly replays: Replays;
  readonly heldBytes: HeldBytes;
  readonly log: Logger;
  readonly logWindow: LogWindow;
  readonly observer: ChannelObserver;
}

/** One event of a channel. */
export interface ChannelEvent {
  readonly coordinates: Coordinates | undefined;
  readonly payload: Payload;
  readonly cursor: string | undefined;
  /** Of its text, in bytes. */
  readonly length: number;
}

type HeldMessage = readonly [payload: Buffer, coordinates: Coordinates | undefined, intake: Intake | undefined];

const GAP = '"gap":true';

const UNKEPT: CursorPlace = { epoch: 0, partition: 0, offset: 0, entry: '' };

/** Who listens to one channel on this pod, and what of it was shown. */
export class LiveChannel {
  readonly name: string;
  /** Resolves once the bus acknowledged the channel. */
  acknowledged: Promise<Unsubscribe> | undefined;
  readonly #services: ChannelServices;
  /** By sharing key; a subscription that shares with nobody is a group of its own. */
  readonly #groups = new Map<string | Subscription, SharingGroup>();
  /** Subscriptions that begin with the history. */
  #replay: Replay | undefined;
  /** Those who have had all that came so far: they get into their groups with the first event that is behind it. */
  readonly #following = new Map<Subscription, Joining>();
  /** Those who are members as soon as the events before have been served. */
  readonly #arriving = new Map<Subscription, SharingGroup>();
  readonly #continuity = new Continuity();
  /** The last event that is in the history, too. */
  #last: CursorPlace | undefined;
  /** The cursor of all events that are in no history: nobody can go on behind one of them, so one that names none is signed once. */
  #unkept: string | undefined;
  /** What came while the history is asked for what is missing. */
  #healing: HeldMessage[] | undefined;
  #hasOverflowed = false;
  /** Of the partition that the last message came from. */
  #intake: Intake | undefined;
  #load: ChannelLoad | undefined;

  constructor(name: string, services: ChannelServices) {
    this.name = name;
    this.#services = services;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0 && this.#following.size === 0 && !this.#replay?.size;
  }

  add(subscription: Subscription, sharingKey: string | undefined): void {
    this.#groupOf(subscription, sharingKey).members.add(subscription);
  }

  delete(subscription: Subscription): boolean {
    if (this.#replay?.delete(subscription) || this.#following.delete(subscription)) return true;
    const { group } = subscription;
    const isArriving = this.#arriving.delete(subscription);
    if (!group || !(group.delete(subscription) || isArriving)) return false;
    if (group.members.size === 0 && !this.#isAwaited(group)) this.#groups.delete(group.key);
    return true;
  }

  /** Holds what comes for a subscription, until `begin`. */
  hold(subscription: Subscription, sharingKey: string | undefined): Joining {
    this.#replay ??= this.#openReplay();
    return this.#replay.hold(subscription, sharingKey, () => {
      if (subscription.note(GAP)) this.#services.observer.onGap(1);
    });
  }

  /** What a subscription that is held missed behind an event; undefined where that cannot be proved. */
  missedSince(seen: CursorPlace): Promise<Missed | undefined> {
    return this.#replay!.reads.missedSince(seen);
  }

  /** The last event, for a subscription that is held. */
  lastEvent(): Promise<Missed | undefined> {
    return this.#replay!.reads.last();
  }

  /** Shows a subscription the history that it begins with, if any, then what it was held, then lets it in with the others. */
  begin(joining: Joining, missed: Missed | undefined): void {
    this.#replay?.begin(joining, missed);
  }

  /** Gives back what is kept for replays. */
  close(): void {
    this.#replay?.close();
    this.#replay = undefined;
  }

  #openReplay(): Replay {
    return new Replay(this.#services, {
      read: (from) => this.#services.read(this.name, from),
      eventOf: ({ payload, coordinates }) => this.#eventOf(payload, coordinates)!,
      onReplayed: (joining) => this.#following.set(joining.subscription, joining),
      onOver: () => this.close(),
    });
  }

  #groupOf(subscription: Subscription, sharingKey: string | undefined): SharingGroup {
    const key = sharingKey ?? subscription;
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = new SharingGroup(key)));
    subscription.group = group;
    return group;
  }

  #isAwaited(group: SharingGroup): boolean {
    return [...this.#arriving.values()].includes(group);
  }

  /** Those for whom this event is the first that they get with their groups. A batch takes who is a member when it begins. */
  #letIn(event: ChannelEvent): void {
    const arriving: (readonly [Subscription, SharingGroup])[] = [];
    for (const joining of this.#following.values()) {
      if (!joining.follows(event)) continue;
      const { subscription, sharingKey } = joining;
      const group = this.#groupOf(subscription, sharingKey);
      this.#following.delete(subscription);
      this.#arriving.set(subscription, group);
      group.batch = undefined;
      arriving.push([subscription, group]);
    }
    this.#services.backlog.enqueue(() => {
      for (const [subscription, group] of arriving)
        if (this.#arriving.delete(subscription)) group.members.add(subscription);
      return true;
    }, this.#load);
  }

  /** A message of the bus. */
  readonly onMessage = (payload: Buffer, coordinates?: Coordinates): void => {
    if (!this.#healing && coordinates && this.#isBehind(coordinates)) void this.#heal();
    const intake = coordinates && this.#intakeOf(coordinates);
    intake?.arrive(payload.length);
    if (this.#healing) this.#hold(this.#healing, payload, coordinates, intake);
    else this.#acceptSafely(payload, coordinates, intake);
  };

  /** The bus was without the channel for a while. */
  readonly onGap = (): void => {
    if (!this.#last) this.#tellGap();
    else if (!this.#healing) void this.#heal();
  };

  /** Whether the history has events between the last one and this. */
  #isBehind(coordinates: Coordinates): boolean {
    const { epoch, previous } = coordinates;
    if (!this.#last || previous === undefined || previous === this.#last.entry) return false;
    return epoch === this.#last.epoch && !this.#continuity.isStale(coordinates);
  }

  /** Keeps a copy: it waits, and what it is a part of would wait with it. Where the pod has no room the message is dropped. */
  #hold(held: HeldMessage[], payload: Buffer, coordinates: Coordinates | undefined, intake: Intake | undefined): void {
    if (this.#services.heldBytes.take(heldLength(payload.length))) {
      held.push([Buffer.from(payload), coordinates, intake]);
      return;
    }
    this.#hasOverflowed = true;
    intake?.serve(payload.length);
  }

  /** Shows what the history has behind the last event, then what came meanwhile; or tells that events may be missing. */
  async #heal(): Promise<void> {
    const held: HeldMessage[] = [];
    this.#healing = held;
    this.#hasOverflowed = false;
    const missed = await this.#services.missed(this.name, this.#last!);
    this.#healing = undefined;
    if (!missed || this.#hasOverflowed) this.#tellGap();
    if (!missed) this.#last = undefined;
    for (const { members } of this.#groups.values()) {
      for (const member of members) member.expectReplay(missed?.length ?? 0);
    }
    for (const { payload, coordinates } of missed ?? []) this.#acceptSafely(payload, coordinates);
    for (const [payload, coordinates, intake] of held) {
      this.#services.heldBytes.give(heldLength(payload.length));
      // The link was lost once more, after the history had been read.
      if (coordinates && this.#isBehind(coordinates)) this.#tellGap();
      this.#acceptSafely(payload, coordinates, intake);
    }
  }

  /** The error boundary of messages. A throw loses one message, which its subscribers see as a gap; the messages after it are shown. */
  #acceptSafely(payload: Buffer, coordinates: Coordinates | undefined, intake?: Intake): void {
    let isShown = false;
    try {
      isShown = this.#accept(payload, coordinates, intake);
    } catch (error) {
      this.#tellGap();
      const { log, logWindow } = this.#services;
      logWindow.run('message', (suppressed) =>
        log.error({ err: error, channel: channelLabel(this.name), suppressed }, 'a message could not be shown'),
      );
    }
    if (!isShown) intake?.serve(payload.length);
  }

  /** Returns whether the groups get it. */
  #accept(bytes: Buffer, coordinates: Coordinates | undefined, intake: Intake | undefined): boolean {
    // A replay may hold it for a while.
    const event = this.#eventOf(this.#replay ? Buffer.from(bytes) : bytes, coordinates);
    if (!event) return false;
    const verdict = coordinates ? this.#continuity.observe(coordinates) : 'next';
    if (verdict === 'stale') {
      this.#services.observer.onStale();
      return false;
    }
    if (verdict === 'gap') this.#tellGap();
    if (coordinates?.entry) this.#last = { ...coordinates, entry: coordinates.entry };
    this.#services.observer.onEvent();
    this.#replay?.hear(event);
    if (this.#following.size > 0) this.#letIn(event);
    return this.#show(event, intake);
  }

  /** Messages may be missing: each operation is told with its next event. */
  #tellGap(): void {
    let operations = 0;
    const tell = (subscription: Subscription) => void (operations += Number(subscription.note(GAP)));
    for (const { members } of this.#groups.values()) members.forEach(tell);
    for (const waiting of [this.#following, this.#arriving])
      for (const subscription of waiting.keys()) tell(subscription);
    for (const subscription of this.#replay?.subscriptions ?? []) tell(subscription);
    this.#services.observer.onGap(operations);
  }

  #eventOf(bytes: Buffer, coordinates: Coordinates | undefined): ChannelEvent | undefined {
    const payload = new TextPayload(bytes, this.#onForeignMessage);
    // What has coordinates was written by a worker, so it is JSON.
    if (!coordinates && !isJson(payload)) return undefined;
    const cursor = coordinates && this.#cursorOf(coordinates);
    return { payload, coordinates, cursor, length: bytes.length };
  }

  readonly #onForeignMessage = (): void => {
    const { observer, log, logWindow } = this.#services;
    observer.onForeignMessage();
    logWindow.run('foreign', (suppressed) =>
      log.error(
        { channel: channelLabel(this.name), suppressed },
        'a message that is not JSON came from Redis: another program publishes on this channel prefix',
      ),
    );
  };

  #cursorOf(coordinates: Coordinates): string | undefined {
    const cursors = this.#services.cursors();
    const { entry } = coordinates;
    if (entry !== undefined) return cursors?.sign(this.name, { ...coordinates, entry });
    return (this.#unkept ??= cursors?.sign(this.name, UNKEPT));
  }

  /** Executes an event for all who are in the groups now, in its turn. Returns false where there are none. */
  #show({ payload, cursor, length }: ChannelEvent, intake: Intake | undefined): boolean {
    const groups = this.#groups;
    if (groups.size === 0) return false;
    const { backlog, startEvent } = this.#services;
    let members = this.#arriving.size;
    if (intake) for (const group of groups.values()) members += group.members.size;
    const load = intake && (this.#load ??= this.#services.flow!.load());
    const executing = load && new Executing(intake, load, length, members);
    const share = { cursor, length: length / groups.size, intake, executing, load: this.#load };
    for (const group of groups.values()) backlog.add(group, startEvent(payload), share);
    backlog.keepBound();
    return true;
  }

  #intakeOf({ partition }: Coordinates): Intake | undefined {
    if (this.#intake?.partition !== partition) this.#intake = this.#services.flow?.intake(this.name, partition);
    return this.#intake;
  }
}

function isJson(payload: TextPayload): boolean {
  try {
    void payload.value;
    return true;
  } catch {
    return false;
  }
}
