import type { ConnectionFacts } from '../../context/connection-facts.ts';
import { areSameReads, readKey, copyReads, readsNothing } from '../../context/fact-reads.ts';
import type { FactReads } from '../../context/fact-reads.ts';

/** The members whose connections have the same values for all facts of one read set. */
export interface AnswerClass {
  readonly key: string;
  size: number;
}

/** The class of a member while it has these facts. */
interface Classified {
  readonly facts: ConnectionFacts;
  readonly answerClass: AnswerClass;
}

/**
 * Groups members by what their connections answer to one read set. Each member is looked at once, and again when it has other facts: facts
 * themselves never change.
 */
export class AnswerClasses<Member extends { readonly facts: ConnectionFacts }> {
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
    const known = this.#byMember.get(member);
    if (known !== undefined && known.facts === member.facts) return known.answerClass;
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
    if (--answerClass.size === 0) this.#byKey.delete(answerClass.key);
  }

  #classify(member: Member): AnswerClass {
    const { facts } = member;
    const key = readKey(this.#reads, facts);
    let answerClass = this.#byKey.get(key);
    if (!answerClass) this.#byKey.set(key, (answerClass = { key, size: 0 }));
    answerClass.size++;
    this.#byMember.set(member, { facts, answerClass });
    return answerClass;
  }
}
