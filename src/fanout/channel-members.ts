import type { EventFilter } from '../graph/filter/event-filter.ts';
import type { Payload } from '../graph/payload.ts';
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
  /** undefined: no group has a filter. */
  #filtered: FilteredGroups | undefined;

  get isEmpty(): boolean {
    return this.#members.size === 0;
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

  addLive(subscription: Subscription, sharingKey: string | undefined, filter?: EventFilter): void {
    const group = this.#groupOf(subscription, sharingKey, filter);
    this.#members.set(subscription, group.liveMember);
    group.members.add(subscription);
  }

  addJoining(joining: Joining): void {
    this.#members.set(joining.subscription, { status: 'joining', joining });
  }

  /** True if the subscription is in the group of this sharing key, or will join it. */
  has(subscription: Subscription, sharingKey: string | undefined): boolean {
    const member = this.#members.get(subscription);
    if (!member) return false;
    const key = 'group' in member ? member.group.key : (member.joining.sharingKey ?? subscription);
    return key === (sharingKey ?? subscription);
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

  #leave(group: SharingGroup, subscription: Subscription): void {
    group.delete(subscription);
    if (group.members.size > 0 || this.#isAwaited(group)) return;
    this.#groups.delete(group.key);
    if (group.filter) this.#filtered?.delete(group, group.filter);
    if (this.#filtered?.size === 0) this.#filtered = undefined;
  }

  #isAwaited(group: SharingGroup): boolean {
    if (this.#arriving === 0) return false;
    for (const member of this.#members.values())
      if (member.status === 'arriving' && member.group === group) return true;
    return false;
  }

  #groupOf(subscription: Subscription, sharingKey: string | undefined, filter: EventFilter | undefined): SharingGroup {
    const key = sharingKey ?? subscription;
    let group = this.#groups.get(key);
    if (group) return group;
    group = new SharingGroup(key, false, filter);
    this.#groups.set(key, group);
    if (filter) (this.#filtered ??= new FilteredGroups()).add(group, filter);
    return group;
  }
}
