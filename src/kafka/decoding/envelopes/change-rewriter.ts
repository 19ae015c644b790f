import { CLOSING, COMMA, LETTER_N, OPENING, QUOTE } from '../../../base/json/characters.ts';
import { parseExactly } from '../../../base/json/exact-numbers.ts';
import { ObjectKeys } from '../../../base/json/object-keys.ts';
import type { Key } from '../../../base/json/object-keys.ts';
import { endOfUnread } from '../../../base/json/skip-value.ts';
import type { KeyRewriter } from '../key-rewriter.ts';
import type { KeyTree } from '../key-tree.ts';
import type { PathValues } from '../../../bus/channel.ts';
import { factsOf } from './debezium.ts';
import type { ChangeFacts } from './debezium.ts';
import { SourceReader, boundedNames } from './source-reader.ts';

/** Rows as they are in payloads. `row` is null for a deleted one. */
export interface RewrittenChange {
  readonly facts: ChangeFacts;
  /** Values at the topic's paths. The row's text is that of the rewriter. */
  readonly row: PathValues | null;
  /** undefined: it has none, or was not asked for. */
  readonly before: { readonly text: string; readonly values: PathValues } | undefined;
  /** Offset in the record after its rows. */
  readonly endOfRows: number;
}

/** What of a change is read beside its operation and its row. */
export interface ReadMembers {
  /** The row before. */
  readonly before: boolean;
  /** Timestamp, transaction and snapshot. */
  readonly facts: boolean;
}

type Member = 'op' | 'before' | 'after' | 'source' | 'transaction' | 'other';

const MEMBERS: readonly Member[] = ['op', 'before', 'after', 'source', 'transaction'];
/** Says whether the row before may be filled. */
const CONNECTOR = ['connector'] as const;
/** Beside those there are times. */
const MAX_NAMES = 32;
/** Of changes of rows, by the character of their operation, where nothing else of them is read. */
const OPERATION_FACTS: ReadonlyMap<number, ChangeFacts> = new Map(
  [...'curd'].map((op) => [op.charCodeAt(0), factsOf({ op })!]),
);

/**
 * Reads Debezium's changes of JSON without a schema in their text: the key rewriter makes the rows, and the rest is skipped, or parsed by
 * itself. It declines what `KeyRewriter` declines, and what is not such a change: then the parsed value decides.
 */
export class ChangeRewriter {
  readonly #rewriter: KeyRewriter;
  readonly #tree: KeyTree;
  readonly #levels: number;
  readonly #keys = new ObjectKeys(boundedNames(MEMBERS, 'other', MAX_NAMES));
  readonly #source = new SourceReader();
  /** Offsets of the members' values in the record that is read; -1: it has none. */
  readonly #starts: Record<Member, number> = { op: -1, before: -1, after: -1, source: -1, transaction: -1, other: -1 };
  readonly #ends = { ...this.#starts };
  #row: PathValues | null = null;
  #before: RewrittenChange['before'];

  /** @param maxDepth of a record */
  constructor(rewriter: KeyRewriter, tree: KeyTree, maxDepth: number) {
    this.#rewriter = rewriter;
    this.#tree = tree;
    this.#levels = maxDepth - 1;
  }

  /** undefined: declined. */
  read(record: Buffer, { before, facts: readsFacts }: ReadMembers): RewrittenChange | undefined {
    const rewriter = this.#rewriter;
    if (!rewriter.load(record)) return undefined;
    const end = this.#readMembers(before);
    if (end < 0 || rewriter.scanner.token(end) !== record.length) return undefined;
    const facts = this.#facts(readsFacts);
    if (!facts || (this.#row === null) !== (facts.op === 'DELETE')) return undefined;
    const endOfRows = Math.max(this.#ends.before, this.#ends.after);
    return { facts, row: this.#row, before: this.#before, endOfRows };
  }

  /** Returns the offset after the object; -1: declined. */
  #readMembers(readsBefore: boolean): number {
    const { scanner } = this.#rewriter;
    const { view } = scanner;
    for (const member of MEMBERS) this.#starts[member] = -1;
    this.#ends.before = this.#ends.after = 0;
    this.#source.clear();
    this.#row = null;
    this.#before = undefined;
    let at = scanner.token(0);
    if (view.getUint8(at) !== OPENING) return -1;
    at = scanner.token(at + 1);
    let key: Key<Member> | undefined;
    for (;;) {
      key = this.#keys.at(scanner, at, key);
      if (!key) return -1;
      at = this.#endOfMember(key.meaning, scanner.token(at + key.length), readsBefore);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  #endOfMember(member: Member, start: number, readsBefore: boolean): number {
    const { scanner } = this.#rewriter;
    if (member !== 'other') {
      // JSON.parse keeps the last of equal keys.
      if (this.#starts[member] >= 0) return -1;
      this.#starts[member] = start;
      const c = scanner.view.getUint8(start);
      if (c === OPENING) {
        if (member === 'after') return (this.#ends.after = this.#endOfAfter(start));
        if (member === 'before' && readsBefore) return (this.#ends.before = this.#endOfBefore(start));
        if (member === 'source') return this.#source.endOf(scanner, start, this.#levels);
      } else if (c !== LETTER_N && (member === 'after' || member === 'before')) return -1;
    }
    return (this.#ends[member] = endOfUnread(scanner, start, this.#levels));
  }

  #endOfAfter(start: number): number {
    const rewriter = this.#rewriter;
    const end = rewriter.rewriteObject(start, this.#tree, this.#levels);
    this.#row = rewriter.values;
    return end;
  }

  #endOfBefore(start: number): number {
    // The rewriter keeps one text, which is to be the row's.
    if (this.#row !== null) return -1;
    const rewriter = this.#rewriter;
    const end = rewriter.rewriteObject(start, this.#tree, this.#levels);
    if (end >= 0) this.#before = { text: rewriter.payload().toString(), values: rewriter.values };
    return end;
  }

  #facts(readsAll: boolean): ChangeFacts | undefined {
    const { view } = this.#rewriter.scanner;
    const op = this.#starts.op;
    // One letter in quotes.
    if (op < 0 || view.getUint8(op) !== QUOTE || this.#ends.op !== op + 3) return undefined;
    const operation = OPERATION_FACTS.get(view.getUint8(op + 1));
    if (!operation || (!readsAll && !this.#before)) return operation;
    const { scanner } = this.#rewriter;
    const code = String.fromCharCode(view.getUint8(op + 1));
    if (readsAll)
      return factsOf({ op: code, source: this.#source.read(scanner), transaction: this.#parsed('transaction') });
    return factsOf({ op: code, source: this.#source.read(scanner, CONNECTOR) });
  }

  #parsed(member: Member): unknown {
    const start = this.#starts[member];
    if (start < 0) return undefined;
    return parseExactly(this.#rewriter.scanner.bytes.toString('utf8', start, this.#ends[member]));
  }
}
