import type { ConnectionFacts } from '../../../graph/context/connection-facts.ts';
import { areSameReads, readKey, copyReads, readsNothing } from '../../../graph/context/fact-reads.ts';
import type { FactReads } from '../../../graph/context/fact-reads.ts';

/** The members whose connections have the same values for all facts of one read set. */
export interface AnswerClass {
  readonly key: string;
  size: number;
}

/** The class of a member, by one read set, while it has these facts. */
export interface Classified {
  /** Stands for the classes, which may be forgotten before the member is. */
  readonly by: object;
  readonly facts: ConnectionFacts;
  readonly answerClass: AnswerClass;
}

interface ClassMember {
  readonly facts: ConnectionFacts;
  /** The last one, where a look-up finds it without the hash of a map: each member needs its class at each event. */
  classified: Classified | undefined;
}

/**
 * Groups members by what their connections answer to one read set. Each member is looked at once, and again when it has other facts: facts
 * themselves never change.
 */
export class AnswerClasses<Member extends ClassMember> {
  readonly #identity = {};
  readonly #reads: FactReads;
  /** Set if nothing was read: then all members are in one class, and none needs to be remembered. */
  readonly #everybody: AnswerClass | undefined;
  readonly #byKey = new Map<string, AnswerClass>();
  readonly #byMember = new Map<Member, Classified>();

  constructor(reads: FactReads | undefined) {
    this.#reads = copyReads(reads);
    if (readsNothing(this.#reads)) this.#everybody = { key: '', size: 0 };
  }

  /** True if an execution read exactly this read set. */
  isFor(reads: FactReads | undefined): boolean {
    return reads ? areSameReads(this.#reads, reads) : this.#everybody !== undefined;
  }

  classOf(member: Member): AnswerClass {
    if (this.#everybody) return this.#everybody;
    const last = member.classified;
    if (last !== undefined && last.by === this.#identity && last.facts === member.facts) return last.answerClass;
    const known = this.#byMember.get(member);
    if (known !== undefined && known.facts === member.facts) {
      member.classified = known;
      return known.answerClass;
    }
    if (known !== undefined) this.delete(member);
    return this.#classify(member);
  }

  /** True if all of the group's `members` (a count) have a known class and this one has a single member. */
  isAlone(answerClass: AnswerClass, members: number): boolean {
    return answerClass.size === 1 && this.#byMember.size === members;
  }

  delete(member: Member): void {
    const answerClass = this.#byMember.get(member)?.answerClass;
    if (!answerClass) return;
    this.#byMember.delete(member);
    if (member.classified?.by === this.#identity) member.classified = undefined;
    if (--answerClass.size === 0) this.#byKey.delete(answerClass.key);
  }

  #classify(member: Member): AnswerClass {
    const { facts } = member;
    const key = readKey(this.#reads, facts);
    let answerClass = this.#byKey.get(key);
    if (!answerClass) this.#byKey.set(key, (answerClass = { key, size: 0 }));
    answerClass.size++;
    member.classified = { by: this.#identity, facts, answerClass };
    this.#byMember.set(member, member.classified);
    return answerClass;
  }
}
