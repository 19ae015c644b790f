import type { Operation } from '../../graph/documents/operation.ts';
import type { EventFilter } from '../../graph/filter/event-filter.ts';
import type { Payload } from '../../graph/payload.ts';
import type { RowOutcome, RowPayload } from '../../graph/row-payload.ts';
import type { ChannelEvent } from './channel-event.ts';
import { FilteredGroups } from './filtered-groups.ts';
import type { Joining } from './resume/joining.ts';
import type { Job } from './scheduling/turn-slices.ts';
import { SharingGroup } from './sharing/sharing-group.ts';
import type { Subscription } from './subscription.ts';

/**
 * - `joining`: the channel's replay delivers its part of the history, then the live events held meanwhile
 * - `caught_up`: it has every event so far; the next newer event is the first one that it receives with a group
 * - `arriving`: that event has arrived; the subscription joins its group once all earlier events are served
 * - `live`: a member of its group
 *
 * A subscription that leaves is deleted, in every state.
 */
type Member =
  | { readonly status: 'joining'; readonly joining: Joining }
  | { readonly status: 'caught_up'; readonly joining: Joining }
  | { readonly status: 'arriving'; readonly group: SharingGroup }
  | SharingGroup['liveMember'];

/** The subscriptions of one channel, each in one state, and the groups in which they share. */
export class ChannelMembers {
  readonly #members = new Map<Subscription, Member>();
  /** By sharing key. A subscription without one is a group of its own. */
  readonly #groups = new Map<string | Subscription, SharingGroup>();
  /** Members with the status `caught_up`. */
  readonly #caughtUp = new Set<Joining>();
  #arriving = 0;
  /** The groups that live and arriving members move to; undefined: none moves. */
  #moves: Map<Subscription, SharingGroup> | undefined;
  /** undefined: no group has a filter. */
  #filtered: FilteredGroups | undefined;

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** Of each member. */
  *operations(): Iterable<Operation> {
    for (const { operation } of this.#members.keys()) yield operation;
  }

  get groups(): ReadonlyMap<string | Subscription, SharingGroup> {
    return this.#groups;
  }

  /** Members with the status `live`. */
  get live(): number {
    let members = 0;
    for (const group of this.#groups.values()) members += group.members.size;
    return members;
  }

  /** The groups that receive an event. */
  receivers(payload: Payload): ReadonlyMap<string | Subscription, SharingGroup> | ReadonlySet<SharingGroup> {
    return this.#filtered ? this.#filtered.receivers(this.#groups.values(), payload) : this.#groups;
  }

  /** What the change of a row is for each group; groups for which it is nothing are absent. */
  *outcomesOf(row: RowPayload): Iterable<readonly [SharingGroup, RowOutcome]> {
    const outcome = row.outcomeFor(undefined)!;
    for (const group of this.#groups.values()) if (group.filter === undefined) yield [group, outcome];
    if (this.#filtered) yield* this.#filtered.outcomesOf(row);
  }

  addLive(subscription: Subscription, sharingKey: string | undefined, filter?: EventFilter): void {
    const group = this.#groupOf(subscription, sharingKey, filter);
    this.#members.set(subscription, group.liveMember);
    group.members.add(subscription);
    group.waiting?.admit(subscription);
  }

  addJoining(joining: Joining): void {
    this.#members.set(joining.subscription, { status: 'joining', joining });
  }

  has(subscription: Subscription): boolean {
    return this.#members.has(subscription);
  }

  /**
   * Moves a member to another group, of the operation that its subscription has now.
   * @returns a job that moves it, to run after all earlier events; undefined: it is not a member of a group yet, and will join that one
   */
  move(subscription: Subscription, sharingKey: string | undefined, filter: EventFilter | undefined): Job | undefined {
    const member = this.#members.get(subscription);
    if (!member) return undefined;
    if (!('group' in member)) {
      member.joining.move(sharingKey, filter);
      return undefined;
    }
    const former = this.#moves?.get(subscription);
    const group = this.#groupOf(subscription, sharingKey, filter);
    (this.#moves ??= new Map()).set(subscription, group);
    if (former) this.#dropIfUnused(former);
    // What has arrived is served to it by the group that it leaves.
    member.group.waiting?.flush();
    group.waiting?.admit(subscription);
    // Until the job runs both groups receive the events. None may join a batch that is served before the job, or has earlier events.
    member.group.batch = undefined;
    group.batch = undefined;
    return () => {
      this.#finishMove(subscription, group);
      return true;
    };
  }

  /** Delivers the events that wait for a member that is about to leave. Those that join have a history or a state to come back to. */
  sendWaiting(subscription: Subscription): void {
    const member = this.#members.get(subscription);
    if (member?.status === 'live') member.group.waiting?.sendWaiting(subscription);
  }

  /** The subscription has every event so far. */
  setCaughtUp(joining: Joining): void {
    this.#members.set(joining.subscription, { status: 'caught_up', joining });
    this.#caughtUp.add(joining);
  }

  /**
   * Moves caught-up members to `arriving` for which this event is newer than their last one.
   * @returns a job that makes them live; undefined if there are none. It runs after all earlier events: a batch serves the members that its
   * group has when it begins.
   */
  admit(event: ChannelEvent): Job | undefined {
    if (this.#caughtUp.size === 0) return undefined;
    const admitted: Joining[] = [];
    for (const joining of this.#caughtUp) {
      if (!joining.advanceTo(event)) continue;
      this.#caughtUp.delete(joining);
      const { subscription, sharingKey, filter } = joining;
      const group = this.#groupOf(subscription, sharingKey, filter);
      this.#members.set(subscription, { status: 'arriving', group });
      this.#arriving++;
      group.waiting?.admit(subscription);
      // The next event must not join a batch of events that this member already has.
      group.batch = undefined;
      admitted.push(joining);
    }
    if (admitted.length === 0) return undefined;
    return () => {
      for (const { subscription } of admitted) this.#setLive(subscription);
      return true;
    };
  }

  delete(subscription: Subscription): boolean {
    const member = this.#members.get(subscription);
    if (!member) return false;
    this.#members.delete(subscription);
    const next = this.#endMove(subscription);
    if (next) this.#dropIfUnused(next);
    if (member.status === 'caught_up') this.#caughtUp.delete(member.joining);
    if (member.status === 'arriving') this.#arriving--;
    if (member.status === 'arriving' || member.status === 'live') this.#leave(member.group, subscription);
    return true;
  }

  /**
   * Adds a note to the next message of every member: at once for members without a group.
   * @param onNoted called once or twice with the number of members for which the note was not pending yet
   * @returns a job that notes the live members, to run after all earlier events; undefined if there are no groups
   */
  note(note: string, onNoted: (members: number) => void): Job | undefined {
    onNoted(this.#note(note, (status) => status === 'joining' || status === 'caught_up'));
    if (this.#groups.size === 0) return undefined;
    // The next event must not join a batch of events before the note.
    for (const group of this.#groups.values()) group.batch = undefined;
    return () => {
      onNoted(this.#note(note, (status) => status === 'live'));
      return true;
    };
  }

  /** Announces `events` (a count) in quick succession to all members except joining ones, whose replay limits itself. */
  expectReplay(events: number): void {
    for (const [subscription, { status }] of this.#members) {
      if (status !== 'joining') subscription.expectReplay(events);
    }
  }

  #note(note: string, isFor: (status: Member['status']) => boolean): number {
    let members = 0;
    for (const [subscription, { status }] of this.#members) if (isFor(status) && subscription.note(note)) members++;
    return members;
  }

  #setLive(subscription: Subscription): void {
    const member = this.#members.get(subscription);
    if (member?.status !== 'arriving') return;
    this.#arriving--;
    this.#members.set(subscription, member.group.liveMember);
    member.group.members.add(subscription);
  }

  #finishMove(subscription: Subscription, group: SharingGroup): void {
    // It has left, or moves on to a third group.
    if (this.#moves?.get(subscription) !== group) return;
    this.#endMove(subscription);
    const member = this.#members.get(subscription);
    if (!member || !('group' in member)) return;
    this.#members.set(subscription, group.liveMember);
    group.members.add(subscription);
    this.#leave(member.group, subscription, group);
  }

  /** Returns the group that it would have moved to. */
  #endMove(subscription: Subscription): SharingGroup | undefined {
    const group = this.#moves?.get(subscription);
    this.#moves?.delete(subscription);
    if (this.#moves?.size === 0) this.#moves = undefined;
    return group;
  }

  /** @param next the group that it moves to */
  #leave(group: SharingGroup, subscription: Subscription, next?: SharingGroup): void {
    group.waiting?.leave(subscription, next);
    group.delete(subscription);
    this.#dropIfUnused(group);
  }

  #dropIfUnused(group: SharingGroup): void {
    if (group.members.size > 0 || this.#isAwaited(group)) return;
    group.waiting?.close();
    // A subscription that shares with nobody has its group under one key, whatever its operation is.
    if (this.#groups.get(group.key) === group) this.#groups.delete(group.key);
    if (group.filter) this.#filtered?.delete(group, group.filter);
    if (this.#filtered?.size === 0) this.#filtered = undefined;
  }

  #isAwaited(group: SharingGroup): boolean {
    for (const next of this.#moves?.values() ?? []) if (next === group) return true;
    if (this.#arriving === 0) return false;
    for (const member of this.#members.values())
      if (member.status === 'arriving' && member.group === group) return true;
    return false;
  }

  #groupOf(subscription: Subscription, sharingKey: string | undefined, filter: EventFilter | undefined): SharingGroup {
    const key = sharingKey ?? subscription;
    const known = this.#groups.get(key);
    // The group of a subscription that shares with nobody is replaced when its operation is.
    if (known && (sharingKey !== undefined || known.operation === subscription.operation)) return known;
    const group = new SharingGroup(key, false, filter, subscription.operation, subscription.pace);
    this.#groups.set(key, group);
    if (filter) (this.#filtered ??= new FilteredGroups()).add(group, filter);
    return group;
  }
}
