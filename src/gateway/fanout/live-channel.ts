import { compareEntryIds } from '../../bus/entry-id.ts';
import type { Unsubscribe } from '../../bus/feed.ts';
import { channelLabel } from '../../bus/channel.ts';
import type { Coordinates } from '../../bus/coordinates.ts';
import { ExecutionLoad } from '../../bus/flow/channel-load.ts';
import type { ChannelLoad } from '../../bus/flow/channel-load.ts';
import type { Intake } from '../../bus/flow/intake.ts';
import type { Operation } from '../../graph/documents/operation.ts';
import { rootFieldNames } from '../../graph/execution/root-fields.ts';
import type { EventFilter } from '../../graph/filter/event-filter.ts';
import { TextPayload } from '../../graph/payload.ts';
import { RowReader } from '../../graph/row-payload.ts';
import type { RowPayload } from '../../graph/row-payload.ts';
import { ChannelEvent } from './channel-event.ts';
import type { ArrivedMessage, CursorSource } from './channel-event.ts';
import { ChannelMembers } from './channel-members.ts';
import type { ChannelServices, GapReason } from './channel-services.ts';
import { Continuity } from './continuity.ts';
import type { EventTimes } from './outbox/result-times.ts';
import { positionOf } from './resume/cursor.ts';
import type { CursorPosition, EventPosition } from './resume/cursor.ts';
import { ownText } from './own-text.ts';
import type { RowDelivery } from './row-deliveries.ts';
import type { GroupDelivery } from './group-delivery.ts';
import { PacedDelivery } from './pace/paced-delivery.ts';
import { GapRecovery } from './resume/gap-recovery.ts';
import type { Backfill } from './resume/gap-recovery.ts';
import type { Missed } from './resume/history-reads.ts';
import type { Joining } from './resume/joining.ts';
import type { OnCaughtUp } from './resume/on-caught-up.ts';
import { Replay } from './resume/replay.ts';
import type { Job } from './scheduling/turn-slices.ts';
import type { SharingGroup } from './sharing/sharing-group.ts';
import type { EventTrace } from '../../ops/tracing/event-trace.ts';
import type { Subscription } from './subscription.ts';

export const GAP = '"gap":true';

type Receivers = ReturnType<ChannelMembers['receivers']>;
/** Of the change of a row. */
type RowReceivers = ReadonlyMap<SharingGroup, RowDelivery>;

const NO_ENTRY: CursorPosition = { epoch: 0, partition: 0, offset: 0, entry: '' };

/** One channel on this pod: its members, and the position of its delivered events. */
export class LiveChannel implements CursorSource {
  readonly name: string;
  /** Resolves once the bus acknowledged the channel. */
  acknowledged: Promise<Unsubscribe> | undefined;
  /** True: the bus keeps its last event as its state. */
  hasState = false;
  readonly #services: ChannelServices;
  readonly #members = new ChannelMembers();
  /** A `PacedDelivery` from the first subscription with a pace on. */
  #delivery: GroupDelivery;
  /** Serves the subscriptions that begin with the history. */
  #replay: Replay | undefined;
  readonly #continuity = new Continuity();
  /** The last event that is in the history, too; before it, the entry after which the channel began. */
  #last: CursorPosition | undefined;
  /** The cursor of all events that are in no history. No client can resume after one of them, so it names none and is signed once. */
  #entrylessCursor: string | undefined;
  /** Made at the first gap: with it, an idle channel takes a quarter more memory. */
  #recovery: GapRecovery | undefined;
  /** Intake of the last message's partition. */
  #intake: Intake | undefined;
  #load: ChannelLoad | undefined;
  /** undefined: its topic has no `envelope`. */
  #rows: RowReader | undefined;

  constructor(name: string, services: ChannelServices) {
    this.name = name;
    this.#services = services;
    this.#delivery = services.delivery;
  }

  get isEmpty(): boolean {
    return this.#members.isEmpty;
  }

  /** Of each of its subscriptions. */
  operations(): Iterable<Operation> {
    return this.#members.operations();
  }

  add(subscription: Subscription, sharingKey: string | undefined, filter?: EventFilter): void {
    this.#noteRules(subscription);
    this.#members.addLive(subscription, sharingKey, filter);
  }

  /**
   * The subscription has another operation, which shares with others: every event that has arrived is served to it as before, every later one
   * with the new group.
   */
  move(subscription: Subscription, sharingKey: string | undefined, filter?: EventFilter): void {
    this.#noteRules(subscription);
    const move = this.#members.move(subscription, sharingKey, filter);
    if (move) this.#services.scheduler.scheduleInChannel(this.#load, move);
  }

  delete(subscription: Subscription): boolean {
    this.#replay?.delete(subscription);
    this.#delivery.leave?.(subscription);
    return this.#members.delete(subscription);
  }

  /** Delivers the events that wait for the pace of a subscription, or because it does not keep up. */
  sendWaiting(subscription: Subscription): void {
    this.#members.sendWaiting(subscription);
  }

  /** Adds a subscription that begins with the history. Live events are held for it from now on. `startReplay` must follow. */
  addJoining(subscription: Subscription, sharingKey: string | undefined, filter?: EventFilter): Joining {
    this.#noteRules(subscription);
    this.#replay ??= this.#openReplay();
    const onGap = (reason: GapReason) => {
      if (subscription.note(GAP)) this.#services.observer.onGap(1, reason);
    };
    const joining = this.#replay.add(subscription, sharingKey, filter, onGap);
    this.#members.addJoining(joining);
    return joining;
  }

  /** A channel gets an envelope or a pace with a subscription, or when the pod serves another graph. Older messages are rows without a change then. */
  #noteRules({ operation, pace }: Subscription): void {
    if (pace && this.#delivery === this.#services.delivery) this.#delivery = new PacedDelivery(this.#services, this);
    if (!this.#rows && this.#services.executor.rulesOf(operation).hasEnvelope) this.#rows = new RowReader(this.name);
  }

  /** True if the subscription is in the channel, or joins it. */
  has(subscription: Subscription): boolean {
    return this.#members.has(subscription);
  }

  /** What a joining subscription missed after an event; undefined if completeness cannot be proved. */
  missedSince(seen: CursorPosition): Promise<Missed | undefined> {
    return this.#replay!.reads.missedSince(seen);
  }

  /** The last event, for a joining subscription. */
  lastEvent(): Promise<Missed | undefined> {
    return this.#replay!.reads.last();
  }

  /** Delivers the missed events, if any, then the events held since, then makes the subscription live. */
  startReplay(joining: Joining, missed: Missed | undefined): void {
    this.#replay?.start(joining, missed);
  }

  /** The subscriptions join after this entry of the history: a gap before the first live event can be backfilled. */
  beginAfter(coordinates: Coordinates): void {
    if (coordinates.entry !== undefined) this.#last ??= positionOf(coordinates, coordinates.entry);
  }

  /** Releases everything that is held for replays and for a backfill. */
  close(): void {
    this.#closeReplay();
    this.#recovery?.close();
  }

  #closeReplay(): void {
    this.#replay?.close();
    this.#replay = undefined;
  }

  #openReplay(): Replay {
    return new Replay(this.#services, {
      read: (from) => this.#services.read(this.name, from),
      eventOf: ({ payload, coordinates }) => this.#eventOf(payload, coordinates)!,
      onReplayed: (joining) => {
        this.#members.setCaughtUp(joining);
        if (joining.onCaughtUp) this.#report(joining, joining.onCaughtUp, joining.seen ?? this.#last);
      },
      onOver: () => this.#closeReplay(),
    });
  }

  /** @param last the last event that the subscription has received, or has a slot for */
  #report(joining: Joining, onCaughtUp: OnCaughtUp, last: EventPosition | undefined): void {
    const cursor = last?.entry === undefined ? undefined : this.cursorOf(last);
    const repeat = () => {
      const latest = this.#last;
      const report: Job = () => {
        this.#report(joining, onCaughtUp, latest);
        return true;
      };
      this.#services.scheduler.scheduleInChannel(this.#load, report);
    };
    joining.subscription.afterResults((notes) => onCaughtUp(cursor, notes, repeat));
  }

  /** A message of the bus. */
  readonly onMessage = (payload: Buffer, coordinates?: Coordinates): void => {
    const times = timesOf(coordinates);
    if (!this.#recovery?.isRunning && coordinates && this.#isAfterGap(coordinates)) this.#backfill(this.#last);
    const intake = coordinates && this.#intakeOf(coordinates);
    intake?.arrive(payload.length);
    if (this.#recovery?.isRunning) this.#recovery.hold({ payload, coordinates, intake, times });
    else this.#acceptSafely({ payload, coordinates, intake, times });
  };

  /** The bus was without the channel for a while. */
  readonly onGap = (): void => {
    if (this.#recovery?.isRunning) this.#recovery.repeat();
    // The state is read again also where it is all that the members have received so far.
    else if (!this.#last && !this.hasState) this.#notifyGap('bus');
    else this.#backfill(this.#last);
  };

  /** @param last undefined: none is known */
  #backfill(last: CursorPosition | undefined): void {
    this.#recovery ??= this.#createRecovery();
    void this.#recovery.run(() => this.#missedAfter(last));
  }

  /** All events after one; where that cannot be proved, the state of the channel. Never rejects. */
  async #missedAfter(last: CursorPosition | undefined): Promise<Backfill> {
    const missed = last && (await this.#services.missed(this.name, last));
    if (missed) return { entries: missed, isComplete: true };
    const state = this.hasState ? await this.#services.read(this.name, undefined) : undefined;
    return { entries: state?.entries ?? [], isComplete: false };
  }

  #createRecovery(): GapRecovery {
    return new GapRecovery(this.#services.heldBytes, {
      onGap: (reason) => this.#notifyGap(reason),
      onBackfill: (events) => {
        if (events === undefined) this.#last = undefined;
        this.#members.expectReplay(events ?? 0);
      },
      acceptMissed: (entry, isState) => this.#acceptSafely({ ...entry, isState }),
      acceptHeld: (message) => {
        // Messages were lost once more, after the history had been read, and the link has not reported it.
        if (message.coordinates && this.#isAfterGap(message.coordinates)) this.#notifyGap('bus');
        this.#acceptSafely(message);
      },
    });
  }

  /** True if the history has events between the last one and this. */
  #isAfterGap(coordinates: Coordinates): boolean {
    const { epoch, entry, previous } = coordinates;
    if (!this.#last || entry === undefined || previous === undefined || previous === this.#last.entry) return false;
    // A message may arrive after the position at which the channel began was read, and be older.
    if (epoch !== this.#last.epoch || compareEntryIds(entry, this.#last.entry) <= 0) return false;
    return !this.#continuity.isStale(coordinates);
  }

  /** The error boundary of messages: a throw loses one message, for which its operations receive `gap: true`. Later messages are delivered. */
  #acceptSafely(message: ArrivedMessage): void {
    let isDelivered = false;
    try {
      isDelivered = this.#accept(message);
    } catch (error) {
      this.#notifyGap('error');
      const { log, logWindow } = this.#services;
      logWindow.run('message', (suppressed) =>
        log.error({ err: error, channel: channelLabel(this.name), suppressed }, 'a message could not be delivered'),
      );
    }
    if (!isDelivered) message.intake?.serve(message.payload.length);
  }

  /** Returns true if groups receive the message, or it is held for subscriptions that join. They serve it in its intake. */
  #accept({ payload, coordinates, intake, times, isState = false }: ArrivedMessage): boolean {
    // A replay or the scheduler may hold it for a while: the buffer it is a part of would be held with it.
    const isHeld = this.#replay !== undefined || this.#load?.isFull === true;
    const event = this.#eventOf(isHeld ? Buffer.from(payload) : payload, coordinates, times);
    if (!event) return false;
    const verdict = coordinates ? this.#continuity.observe(coordinates) : 'next';
    if (verdict === 'stale') {
      this.#services.observer.onStale();
      return false;
    }
    if (verdict === 'older') this.#logOlderEpoch();
    if (verdict !== 'next') this.#notifyGap('epoch');
    if (coordinates?.entry) this.#last = positionOf(coordinates, coordinates.entry);
    this.#services.observer.onEvent(coordinates !== undefined);
    const arrive = this.#members.admit(event);
    if (arrive) this.#services.scheduler.scheduleInChannel(this.#load, arrive);
    const { row } = event;
    const rowReceivers = row && this.#rowReceivers(row, isState);
    const groups = rowReceivers ? new Set(rowReceivers.keys()) : this.#members.receivers(event.payload);
    const isAwaited = this.#replay?.intake.isAwaited === true;
    // In the intake, the subscriptions that join count as one more group.
    const length = event.length / (isAwaited ? groups.size + 1 : groups.size);
    this.#replay?.addLive(event, isAwaited ? { intake, length } : undefined);
    if (groups.size === 0) return isAwaited;
    this.#deliver(event, groups, rowReceivers, intake, length, isState);
    return true;
  }

  #rowReceivers(row: RowPayload, isState: boolean): RowReceivers {
    const receivers = new Map<SharingGroup, RowDelivery>();
    for (const [group, outcome] of this.#members.outcomesOf(row)) {
      const delivery = this.#services.rows.of(row, outcome, group.operation!, isState);
      if (delivery) receivers.set(group, delivery);
    }
    return receivers;
  }

  #logOlderEpoch(): void {
    const { log, logWindow } = this.#services;
    logWindow.run('older epoch', (suppressed) =>
      log.warn(
        { channel: channelLabel(this.name), suppressed },
        'a channel is back at an older epoch: a message that no worker published had a newer one, or Redis lost data. Only crier may publish on its channels',
      ),
    );
  }

  /** Events may be missing: each operation receives `gap: true` with its next event. */
  #notifyGap(reason: GapReason): void {
    const noteLive = this.#members.note(GAP, (members) => this.#services.observer.onGap(members, reason));
    if (noteLive) this.#services.scheduler.scheduleInChannel(this.#load, noteLive);
  }

  /** Schedules an event for the members that each group has when its turn comes. Each group counts for `lengthOfGroup` bytes in the intake. */
  #deliver(
    channelEvent: ChannelEvent,
    groups: Receivers,
    rowReceivers: RowReceivers | undefined,
    intake: Intake | undefined,
    lengthOfGroup: number,
    isState: boolean,
  ): void {
    const { payload, coordinates, length, times } = channelEvent;
    const { scheduler } = this.#services;
    const load = intake && (this.#load ??= this.#services.flow!.load());
    const executing = load && new ExecutionLoad(intake, load, length, this.#members);
    const trace = coordinates?.trace && this.#startTrace(coordinates, length, groups);
    const timesOfAll = trace && times ? { ...times, traceId: coordinates.trace.traceId } : times;
    const { isTombstone } = channelEvent;
    const event = { channelEvent, isTombstone, isState, executing, times: timesOfAll, trace };
    const share = { length: lengthOfGroup, intake, load: this.#load };
    for (const group of groups.values()) {
      this.#delivery.deliver(group, rowReceivers ? rowReceivers.get(group)! : payload, event, share);
    }
    if (trace) scheduler.scheduleInChannel(this.#load, trace.onServed);
    scheduler.keepBound();
  }

  /** undefined: there are no members, or no span can be started now. */
  #startTrace(coordinates: Coordinates, length: number, groups: Receivers): EventTrace | undefined {
    const { traces, scheduler } = this.#services;
    const { live: members } = this.#members;
    for (const group of groups.values()) {
      for (const { operation } of group.members) {
        const [field = ''] = rootFieldNames(operation);
        const event = { channel: this.name, field, coordinates, length, members, groups: groups.size };
        return traces?.start(event, scheduler.schedule);
      }
    }
    return undefined;
  }

  /** undefined: another program published the message, and it is not JSON or too long. */
  #eventOf(bytes: Buffer, coordinates: Coordinates | undefined, times?: EventTimes): ChannelEvent | undefined {
    // A message with coordinates was published by a worker, so its payload is JSON.
    const text = coordinates ? bytes : ownText(bytes, this.#services.maxMessageBytes);
    if (!text) return void this.#onUnrecognisedMessage();
    const payload =
      this.#rows && coordinates
        ? this.#rows.read(text, coordinates, this.#onUnrecognisedMessage)
        : new TextPayload(text, this.#onUnrecognisedMessage, this.name, coordinates);
    return new ChannelEvent(payload, coordinates, text.length, this, times);
  }

  readonly #onUnrecognisedMessage = (): void => {
    const { observer, log, logWindow, names } = this.#services;
    observer.onUnrecognisedMessage();
    logWindow.run('unrecognised', (suppressed) =>
      log.error(
        { channel: channelLabel(this.name), suppressed },
        `a message from Redis was dropped: another program published it, and it is not JSON or is longer than ${names.MAX_RECORD_BYTES}`,
      ),
    );
  };

  cursorOf(coordinates: EventPosition): string | undefined {
    const { cursors } = this.#services.secret;
    const { entry } = coordinates;
    if (entry !== undefined) return cursors?.sign(this.name, { ...coordinates, entry });
    return (this.#entrylessCursor ??= cursors?.sign(this.name, NO_ENTRY));
  }

  #intakeOf({ partition }: Coordinates): Intake | undefined {
    if (this.#intake?.partition !== partition) this.#intake = this.#services.flow?.intake(this.name, partition);
    return this.#intake;
  }
}

/** undefined: another program published the message, or its record has no timestamp. */
function timesOf(coordinates: Coordinates | undefined): EventTimes | undefined {
  if (!coordinates || coordinates.timestamp <= 0) return undefined;
  return { recordedAt: coordinates.timestamp, receivedAt: performance.now() };
}
