import { getNullableType, isListType, isNonNullType } from 'graphql';
import type { GraphQLEnumType, GraphQLOutputType, GraphQLScalarType } from 'graphql';
import { CLOSING, CLOSING_SQUARE, COMMA, OPENING, OPENING_SQUARE } from '../../json/characters.ts';
import { snippet } from '../../json/composer.ts';
import type { Snippet } from '../../json/composer.ts';
import { MAX_LEVELS } from '../../json/scanner.ts';
import { endOfNull, printNull } from './render-context.ts';
import type { Desk, Printer } from './render-context.ts';
import { LeafPrinter } from './leaf-printer.ts';
import { Members } from './members.ts';
import type { UnwantedKeys } from './members.ts';

/**
 * A result's text made of a payload's text, without parsing the one or making the other. What a selection needs of an object is
 * found in one pass, in the order in which the payload has it, and noted; then it is copied in the order of the selection.
 */

export interface FieldText {
  readonly responseKey: string;
  readonly value:
    | { readonly kind: 'source'; readonly name: string; readonly printer: Printer }
    | { readonly kind: 'constant'; readonly json: string }
    /** Filled for each connection. `path`: of response keys. */
    | { readonly kind: 'hole'; readonly path: readonly string[] };
}

interface Line {
  readonly lead: Snippet;
  readonly printer: Printer | undefined;
  readonly offset: number;
  readonly hole: readonly string[] | undefined;
}

/** Its notes: the offset behind it, where those of its fields begin. */
class ObjectPrinter implements Printer {
  readonly size = 2;
  readonly #isRequired: boolean;
  readonly #members: Members;
  readonly #lines: readonly Line[];

  constructor(fields: readonly FieldText[], isRequired: boolean, unwanted: UnwantedKeys) {
    this.#members = new Members(unwanted);
    this.#isRequired = isRequired;
    this.#lines = fields.map(({ responseKey, value }, i): Line => {
      const lead = `${i === 0 ? '{' : ','}${JSON.stringify(responseKey)}:`;
      if (value.kind === 'constant') {
        return { lead: snippet(lead + value.json), printer: undefined, offset: 0, hole: undefined };
      }
      if (value.kind === 'hole') return { lead: snippet(lead), printer: undefined, offset: 0, hole: value.path };
      const { name, printer } = value;
      return { lead: snippet(lead), printer, offset: this.#members.add(name, printer), hole: undefined };
    });
  }

  read(desk: Desk, at: number, note: number): number {
    if (desk.scanner.view.getUint8(at) !== OPENING) return endOfNull(desk, at);
    const notes = desk.room(this.#members.size);
    const end = this.#members.read(desk, at, notes);
    desk.notes[note] = end;
    desk.notes[note + 1] = notes;
    return end;
  }

  print(desk: Desk, note: number): boolean {
    const { composer } = desk;
    if (desk.notes[note] === 0) return printNull(desk, this.#isRequired);
    const notes = desk.notes[note + 1]!;
    const lines = this.#lines;
    // Fragments for other types may leave nothing.
    if (lines.length === 0) composer.byte(OPENING);
    for (let i = 0; i < lines.length; i++) {
      const { lead, printer, offset, hole } = lines[i]!;
      composer.snippet(lead);
      if (printer !== undefined) {
        if (!printer.print(desk, notes + offset)) return false;
      } else if (hole !== undefined) desk.holes.push({ path: hole, at: composer.length });
    }
    composer.byte(CLOSING);
    return true;
  }
}

/** Its notes: the offset behind it, where those of its first item begin. An item's notes follow that of the next item's. */
class ListPrinter implements Printer {
  readonly size = 2;
  readonly #item: Printer;
  readonly #isRequired: boolean;

  constructor(item: Printer, isRequired: boolean) {
    this.#item = item;
    this.#isRequired = isRequired;
  }

  read(desk: Desk, at: number, note: number): number {
    const { scanner } = desk;
    const { view } = scanner;
    if (view.getUint8(at) !== OPENING_SQUARE) return endOfNull(desk, at);
    at = scanner.token(at + 1);
    let last = note + 1;
    if (view.getUint8(at) === CLOSING_SQUARE) return (desk.notes[note] = at + 1);
    for (;;) {
      const item = desk.room(1 + this.#item.size);
      desk.notes[last] = item;
      last = item;
      at = this.#item.read(desk, at, item + 1);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING_SQUARE) return (desk.notes[note] = at + 1);
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  print(desk: Desk, note: number): boolean {
    const { composer, notes } = desk;
    if (notes[note] === 0) return printNull(desk, this.#isRequired);
    composer.byte(OPENING_SQUARE);
    for (let item = notes[note + 1]!; item !== 0; item = notes[item]!) {
      if (!this.#item.print(desk, item + 1)) return false;
      if (notes[item] !== 0) composer.byte(COMMA);
    }
    composer.byte(CLOSING_SQUARE);
    return true;
  }
}

/** What lies at a path of the payload. */
class PathPrinter implements Printer {
  readonly size: number;
  readonly #members: Members;
  readonly #inner: Printer;

  constructor(name: string, inner: Printer, unwanted: UnwantedKeys) {
    this.#members = new Members(unwanted);
    this.size = inner.size;
    this.#inner = inner;
    this.#members.add(name, inner);
  }

  read(desk: Desk, at: number, note: number): number {
    if (desk.scanner.view.getUint8(at) !== OPENING) return desk.scanner.endOfValue(at, MAX_LEVELS);
    return this.#members.read(desk, at, note);
  }

  print(desk: Desk, note: number): boolean {
    return this.#inner.print(desk, note);
  }
}

/** `fields`: of an object type; undefined: it is a leaf. */
export function printerOf(
  type: GraphQLOutputType,
  fields: readonly FieldText[] | undefined,
  unwanted: UnwantedKeys,
): Printer {
  const isRequired = isNonNullType(type);
  const nullable = getNullableType(type);
  if (isListType(nullable)) return new ListPrinter(printerOf(nullable.ofType, fields, unwanted), isRequired);
  return fields
    ? new ObjectPrinter(fields, isRequired, unwanted)
    : new LeafPrinter(nullable as GraphQLScalarType | GraphQLEnumType, isRequired);
}

export function printerAt(path: readonly string[], printer: Printer, unwanted: UnwantedKeys): Printer {
  return path.reduceRight((inner, name) => new PathPrinter(name, inner, unwanted), printer);
}
