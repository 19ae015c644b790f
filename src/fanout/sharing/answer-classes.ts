import type { ConnectionFacts } from '../../context/connection-facts.ts';
import { asksNothing, asksSame, questionsOf, readKey } from '../../context/fact-reads.ts';
import type { FactReads, Questions } from '../../context/fact-reads.ts';

/** Those who give the same answers to the questions of one `Answers`. */
export interface Alike {
  readonly key: string;
  size: number;
}

/** Who answers what when asked one set of questions about their connections. Each is asked once: facts never change. */
export class Answers<Member extends { readonly facts: ConnectionFacts }> {
  readonly #questions: Questions;
  /** Where nothing is asked all are alike, and nobody needs to be remembered. */
  readonly #everybody: Alike | undefined;
  readonly #alike = new Map<string, Alike>();
  readonly #alikeOf = new Map<Member, Alike>();

  constructor(reads: FactReads | undefined) {
    this.#questions = questionsOf(reads);
    if (asksNothing(this.#questions)) this.#everybody = { key: '', size: 0 };
  }

  /** Whether an execution that read this has asked exactly these questions. */
  isFor(reads: FactReads | undefined): boolean {
    return reads ? asksSame(this.#questions, reads) : this.#everybody !== undefined;
  }

  alikeOf(member: Member): Alike {
    const known = this.#everybody ?? this.#alikeOf.get(member);
    if (known) return known;
    const key = readKey(this.#questions, member.facts);
    let alike = this.#alike.get(key);
    if (!alike) this.#alike.set(key, (alike = { key, size: 0 }));
    alike.size++;
    this.#alikeOf.set(member, alike);
    return alike;
  }

  /** Whether of so many members, all of whom have been asked, none is alike. */
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
