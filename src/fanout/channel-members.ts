import type { ChannelEvent } from './channel-event.ts';
import type { Joining } from './resume/joining.ts';
import type { Job } from './scheduling/turn-slices.ts';
import { SharingGroup } from './sharing/sharing-group.ts';
import type { Subscription } from './subscription.ts';

/**
 * - `joining`: the channel's replay delivers the history it begins with, then the live events held meanwhile
 * - `caught_up`: it has every event so far; the next event that is newer than what it has is its first one with a group
 * - `arriving`: that event has come; it joins its group as soon as the events before that one are served
 * - `live`: a member of its group
 *
 * A subscription that leaves is deleted, in every state.
 */
type Member =
  | { readonly status: 'joining' }
  | { readonly status: 'caught_up'; readonly joining: Joining }
  | { readonly status: 'arriving'; readonly group: SharingGroup }
  | SharingGroup['liveMember'];

const JOINING: Member = { status: 'joining' };

/** The subscriptions of one channel, each in one state, and the groups in which they share. */
export class ChannelMembers {
  readonly #members = new Map<Subscription, Member>();
  /** By sharing key; a subscription that shares with nobody is a group of its own. */
  readonly #groups = new Map<string | Subscription, SharingGroup>();
  /** Those with the status `caught_up`. */
  readonly #caughtUp = new Set<Joining>();
  #arriving = 0;

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

  addLive(subscription: Subscription, sharingKey: string | undefined): void {
    const group = this.#groupOf(subscription, sharingKey);
    this.#members.set(subscription, group.liveMember);
    group.members.add(subscription);
  }

  addJoining(subscription: Subscription): void {
    this.#members.set(subscription, JOINING);
  }

  /** The subscription has every event so far. */
  setCaughtUp(joining: Joining): void {
    this.#members.set(joining.subscription, { status: 'caught_up', joining });
    this.#caughtUp.add(joining);
  }

  /**
   * Moves the members that have caught up, and for which this event is newer than what they have, to `arriving`.
   * @returns makes them live: a job for after the events before this one, because a batch serves the members that it finds when it begins;
   * undefined if there are none
   */
  admit(event: ChannelEvent): Job | undefined {
    if (this.#caughtUp.size === 0) return undefined;
    const admitted: Joining[] = [];
    for (const joining of this.#caughtUp) {
      if (!joining.advanceTo(event)) continue;
      this.#caughtUp.delete(joining);
      const { subscription, sharingKey } = joining;
      const group = this.#groupOf(subscription, sharingKey);
      this.#members.set(subscription, { status: 'arriving', group });
      this.#arriving++;
      // The next event must not join a batch with events that this member has.
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
   * Adds a note to the next message of every member: at once where no event is scheduled for it.
   * @param onNoted receives the number of members that did not have the note already, once or twice
   * @returns notes the live members: a job for after the events before now; undefined if there will be none
   */
  note(note: string, onNoted: (members: number) => void): Job | undefined {
    onNoted(this.#note(note, (status) => status === 'joining' || status === 'caught_up'));
    if (this.#groups.size === 0) return undefined;
    // The next event must not join a batch with events from before the note.
    for (const group of this.#groups.values()) group.batch = undefined;
    return () => {
      onNoted(this.#note(note, (status) => status === 'live'));
      return true;
    };
  }

  /** `events` (a count) come at once, for all members but those that join: their replay has a pace of its own. */
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
    if (group.members.size === 0 && !this.#isAwaited(group)) this.#groups.delete(group.key);
  }

  #isAwaited(group: SharingGroup): boolean {
    if (this.#arriving === 0) return false;
    for (const member of this.#members.values())
      if (member.status === 'arriving' && member.group === group) return true;
    return false;
  }

  #groupOf(subscription: Subscription, sharingKey: string | undefined): SharingGroup {
    const key = sharingKey ?? subscription;
    let group = this.#groups.get(key);
    if (!group) this.#groups.set(key, (group = new SharingGroup(key)));
    return group;
  }
}
