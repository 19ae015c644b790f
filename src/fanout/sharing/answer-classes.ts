import type { ConnectionFacts } from '../../context/connection-facts.ts';
import { areSameReads, copyReads, readKey, readsNothing } from '../../context/fact-reads.ts';
import type { FactReads } from '../../context/fact-reads.ts';

/** Members whose connections agree on the reads of one `Answers`. */
export interface Alike {
  readonly key: string;
  size: number;
}

/** Groups members by the values that one set of reads has on their connections. Each is looked at once: facts never change. */
export class Answers<Member extends { readonly facts: ConnectionFacts }> {
  readonly #reads: FactReads;
  /** Where nothing was read all are alike, and nobody needs to be remembered. */
  readonly #everybody: Alike | undefined;
  readonly #alike = new Map<string, Alike>();
  readonly #alikeOf = new Map<Member, Alike>();

  constructor(reads: FactReads | undefined) {
    this.#reads = copyReads(reads);
    if (readsNothing(this.#reads)) this.#everybody = { key: '', size: 0 };
  }

  /** True if an execution with these reads read exactly the same facts. */
  isFor(reads: FactReads | undefined): boolean {
    return reads ? areSameReads(this.#reads, reads) : this.#everybody !== undefined;
  }

  alikeOf(member: Member): Alike {
    const known = this.#everybody ?? this.#alikeOf.get(member);
    if (known) return known;
    const key = readKey(this.#reads, member.facts);
    let alike = this.#alike.get(key);
    if (!alike) this.#alike.set(key, (alike = { key, size: 0 }));
    alike.size++;
    this.#alikeOf.set(member, alike);
    return alike;
  }

  /** Whether of so many members, all of whom are known, none is alike. */
  isAlone(alike: Alike, members: number): boolean {
    return alike.size === 1 && this.#alikeOf.size === members;
  }

  forget(member: Member): void {
    const alike = this.#alikeOf.get(member);
    if (!alike) return;
    this.#alikeOf.delete(member);
    if (--alike.size === 0) this.#alike.delete(alike.key);
  }
}
