import { getNullableType, isListType, isNonNullType } from 'graphql';
import type { GraphQLEnumType, GraphQLOutputType, GraphQLScalarType } from 'graphql';
import { CLOSING, CLOSING_SQUARE, COMMA, OPENING, OPENING_SQUARE } from '../../base/json/characters.ts';
import { snippet } from '../../base/json/composer.ts';
import type { Snippet } from '../../base/json/composer.ts';
import { MAX_LEVELS } from '../../base/json/scanner.ts';
import { endOfNull, printNull } from './render-context.ts';
import type { Printer, RenderContext } from './render-context.ts';
import { LeafPrinter } from './leaf-printer.ts';
import { Members } from './object-members.ts';
import type { UnselectedKeyBudget } from './object-members.ts';

/*
 * Printers of objects and lists. A result's text is copied from a payload's text; neither is parsed. One pass over an object finds the
 * selected members, in the payload's order, and stores where their values are. Then they are copied in the selection's order.
 */

/** A field of a result's object. */
export interface ResultField {
  readonly responseKey: string;
  readonly source:
    | { readonly kind: 'payload'; readonly name: string; readonly printer: Printer }
    | { readonly kind: 'constant'; readonly json: string }
    /** `path`: response keys that lead to it. */
    | { readonly kind: 'slot'; readonly path: readonly string[] };
}

/** A `ResultField`, ready to be printed. */
interface PrintedField {
  /** Text before the value: separator and response key; the value, too, where it is constant. */
  readonly prefix: Snippet;
  readonly printer: Printer | undefined;
  /** Of its value offsets, from the first of the object's members. */
  readonly offset: number;
  readonly slot: readonly string[] | undefined;
}

/** Value offsets: the byte offset after the object, the index of its members' value offsets. */
class ObjectPrinter implements Printer {
  readonly size = 2;
  readonly #isRequired: boolean;
  readonly #members: Members;
  readonly #fields: readonly PrintedField[];

  constructor(fields: readonly ResultField[], isRequired: boolean, budget: UnselectedKeyBudget) {
    this.#members = new Members(budget);
    this.#isRequired = isRequired;
    this.#fields = fields.map(({ responseKey, source }, i): PrintedField => {
      const prefix = `${i === 0 ? '{' : ','}${JSON.stringify(responseKey)}:`;
      if (source.kind === 'constant') {
        return { prefix: snippet(prefix + source.json), printer: undefined, offset: 0, slot: undefined };
      }
      if (source.kind === 'slot') return { prefix: snippet(prefix), printer: undefined, offset: 0, slot: source.path };
      const { name, printer } = source;
      return { prefix: snippet(prefix), printer, offset: this.#members.add(name, printer), slot: undefined };
    });
  }

  read(context: RenderContext, at: number, index: number): number {
    if (context.scanner.view.getUint8(at) !== OPENING) return endOfNull(context, at);
    const members = context.reserve(this.#members.size);
    const end = this.#members.read(context, at, members);
    context.valueOffsets[index] = end;
    context.valueOffsets[index + 1] = members;
    return end;
  }

  print(context: RenderContext, index: number): boolean {
    const { composer } = context;
    if (context.valueOffsets[index] === 0) return printNull(context, this.#isRequired);
    const members = context.valueOffsets[index + 1]!;
    const fields = this.#fields;
    // Nothing may be selected of this type: all fragments are for other types.
    if (fields.length === 0) composer.byte(OPENING);
    for (let i = 0; i < fields.length; i++) {
      const { prefix, printer, offset, slot } = fields[i]!;
      composer.snippet(prefix);
      if (printer !== undefined) {
        if (!printer.print(context, members + offset)) return false;
      } else if (slot !== undefined) context.slots.push({ path: slot, at: composer.length });
    }
    composer.byte(CLOSING);
    return true;
  }
}

/**
 * Value offsets: the byte offset after the list, the index of its first item. An item has the index of the next item (0: none), then the
 * value offsets of its value.
 */
class ListPrinter implements Printer {
  readonly size = 2;
  readonly #item: Printer;
  readonly #isRequired: boolean;

  constructor(item: Printer, isRequired: boolean) {
    this.#item = item;
    this.#isRequired = isRequired;
  }

  read(context: RenderContext, at: number, index: number): number {
    const { scanner } = context;
    const { view } = scanner;
    if (view.getUint8(at) !== OPENING_SQUARE) return endOfNull(context, at);
    at = scanner.token(at + 1);
    let last = index + 1;
    if (view.getUint8(at) === CLOSING_SQUARE) return (context.valueOffsets[index] = at + 1);
    for (;;) {
      const item = context.reserve(1 + this.#item.size);
      context.valueOffsets[last] = item;
      last = item;
      at = this.#item.read(context, at, item + 1);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING_SQUARE) return (context.valueOffsets[index] = at + 1);
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  print(context: RenderContext, index: number): boolean {
    const { composer, valueOffsets } = context;
    if (valueOffsets[index] === 0) return printNull(context, this.#isRequired);
    composer.byte(OPENING_SQUARE);
    for (let item = valueOffsets[index + 1]!; item !== 0; item = valueOffsets[item]!) {
      if (!this.#item.print(context, item + 1)) return false;
      if (valueOffsets[item] !== 0) composer.byte(COMMA);
    }
    composer.byte(CLOSING_SQUARE);
    return true;
  }
}

/** Prints the value of one member of an object. Value offsets: those of the value; an absent value is printed as null. */
class PathPrinter implements Printer {
  readonly size: number;
  readonly #members: Members;
  readonly #inner: Printer;

  constructor(name: string, inner: Printer, budget: UnselectedKeyBudget) {
    this.#members = new Members(budget);
    this.size = inner.size;
    this.#inner = inner;
    this.#members.add(name, inner);
  }

  read(context: RenderContext, at: number, index: number): number {
    if (context.scanner.view.getUint8(at) !== OPENING) return context.scanner.endOfValue(at, MAX_LEVELS);
    return this.#members.read(context, at, index);
  }

  print(context: RenderContext, index: number): boolean {
    return this.#inner.print(context, index);
  }
}

/** @param fields of the object type that `type` names; undefined: it names a leaf type */
export function printerOf(
  type: GraphQLOutputType,
  fields: readonly ResultField[] | undefined,
  budget: UnselectedKeyBudget,
): Printer {
  const isRequired = isNonNullType(type);
  const nullable = getNullableType(type);
  if (isListType(nullable)) return new ListPrinter(printerOf(nullable.ofType, fields, budget), isRequired);
  return fields
    ? new ObjectPrinter(fields, isRequired, budget)
    : new LeafPrinter(nullable as GraphQLScalarType | GraphQLEnumType, isRequired);
}

/** Prints the value at a path of the payload with `printer`. */
export function printerAt(path: readonly string[], printer: Printer, budget: UnselectedKeyBudget): Printer {
  return path.reduceRight((inner, name) => new PathPrinter(name, inner, budget), printer);
}
