import { CLOSING, COMMA } from '../../../base/json/characters.ts';
import { parseExactly } from '../../../base/json/exact-numbers.ts';
import { ObjectKeys } from '../../../base/json/object-keys.ts';
import type { Key } from '../../../base/json/object-keys.ts';
import type { JsonScanner } from '../../../base/json/scanner.ts';
import { endOfUnread } from '../../../base/json/skip-value.ts';
import type { JsonObject } from './envelope.ts';

type Member = 'connector' | 'snapshot' | 'ts_ms' | 'other';

const MEMBERS: readonly Member[] = ['connector', 'snapshot', 'ts_ms'];
/** Debezium's connectors write at most 25 names. */
const MAX_NAMES = 64;

/** Finds what is read of a change's `source` in its text. It declines names that are not written as Debezium writes them. */
export class SourceReader {
  readonly #keys: ObjectKeys<Member>;
  /** Offsets of the members' values; -1: it has none. */
  readonly #starts: Record<Member, number> = { connector: -1, snapshot: -1, ts_ms: -1, other: -1 };
  readonly #ends = { ...this.#starts };

  constructor() {
    this.#keys = new ObjectKeys(boundedNames(MEMBERS, 'other', MAX_NAMES));
  }

  /** The next record has no source until `endOf` finds one. */
  clear(): void {
    for (const member of MEMBERS) this.#starts[member] = -1;
  }

  /** Returns the offset after the object; -1: declined. @param levels of nesting that it may have */
  endOf(scanner: JsonScanner, start: number, levels: number): number {
    const { view } = scanner;
    let at = scanner.token(start + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    let key: Key<Member> | undefined;
    for (;;) {
      key = this.#keys.at(scanner, at, key);
      if (!key) return -1;
      const value = scanner.token(at + key.length);
      at = endOfUnread(scanner, value, levels - 1);
      if (at < 0) return -1;
      if (key.meaning !== 'other') {
        this.#starts[key.meaning] = value;
        this.#ends[key.meaning] = at;
      }
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  /** Members of the source that was found, with the values of JSON. */
  read({ bytes }: JsonScanner, members: readonly Member[] = MEMBERS): JsonObject {
    const found = members.filter((member) => this.#starts[member] >= 0);
    return Object.fromEntries(
      found.map((member) => [member, parseExactly(bytes.toString('utf8', this.#starts[member], this.#ends[member]))]),
    );
  }
}

/** What the names of an object mean, of as many names: whoever writes new ones without end is parsed. */
export function boundedNames<Meaning extends string>(
  known: readonly Meaning[],
  other: Meaning,
  most: number,
): (name: string) => Meaning | undefined {
  let names = 0;
  return (name) => (names++ < most ? (known.find((one) => one === name) ?? other) : undefined);
}
