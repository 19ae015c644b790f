import { getNullableType, isEnumType, isListType, isNonNullType, isScalarType, specifiedScalarTypes } from 'graphql';
import type { GraphQLEnumType, GraphQLOutputType, GraphQLScalarType } from 'graphql';

/** Text under way; a hole ends one text and begins the next. */
export interface Sheet {
  readonly texts: string[];
  /** Response keys that lead to each hole: one less than there are texts. */
  readonly holes: (readonly string[])[];
  /** Behind the last hole. */
  text: string;
}

/**
 * Appends the JSON text that graphql-js's result would have for a value that JSON.parse made, without making the result.
 * False: the value is not as its type wants it, and what that means is graphql-js's to say.
 */
export type Print = (value: unknown, sheet: Sheet) => boolean;

export interface FieldPrint {
  readonly responseKey: string;
  /** Of the source; undefined: its own value does not matter. */
  readonly name: string;
  /** Whether every object inherits a property of that name, which must not be read as if it had been sent. */
  readonly isInherited: boolean;
  readonly print: Print;
}

export function printObject(fields: readonly FieldPrint[]): Print {
  const leads = fields.map(({ responseKey }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(responseKey)}:`);
  return (source, sheet) => {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) return false;
    for (let i = 0; i < fields.length; i++) {
      const { name, isInherited, print } = fields[i]!;
      sheet.text += leads[i]!;
      const value = isInherited && !Object.hasOwn(source, name) ? undefined : (source as Record<string, unknown>)[name];
      if (!print(value, sheet)) return false;
    }
    sheet.text += '}';
    return true;
  };
}

/** A place that is filled for each connection. */
export function printHole(path: readonly string[]): Print {
  return (_, sheet) => {
    sheet.texts.push(sheet.text);
    sheet.text = '';
    sheet.holes.push(path);
    return true;
  };
}

export function printConstant(text: string): Print {
  return (_, sheet) => {
    sheet.text += text;
    return true;
  };
}

/** `named` prints what is no null and no list. */
export function printOutput(type: GraphQLOutputType, named: Print): Print {
  const nullable = getNullableType(type);
  const print = isListType(nullable) ? printList(printOutput(nullable.ofType, named)) : named;
  if (isNonNullType(type)) return (value, sheet) => value !== null && value !== undefined && print(value, sheet);
  return (value, sheet) => {
    if (value !== null && value !== undefined) return print(value, sheet);
    sheet.text += 'null';
    return true;
  };
}

function printList(item: Print): Print {
  return (list, sheet) => {
    if (!Array.isArray(list)) return false;
    sheet.text += '[';
    for (let i = 0; i < list.length; i++) {
      if (i > 0) sheet.text += ',';
      if (!item(list[i], sheet)) return false;
    }
    sheet.text += ']';
    return true;
  };
}

/** Values that graphql-js would convert (a number for a String, say) are left to it. */
export function printLeaf(type: GraphQLScalarType | GraphQLEnumType): Print {
  if (isEnumType(type)) return printEnum(type);
  if (isScalarType(type) && !specifiedScalarTypes.includes(type)) return printSerialized(type);
  switch (type.name) {
    case 'Int':
      return (value, sheet) => typeof value === 'number' && (value | 0) === value && printNumber(value, sheet);
    case 'Float':
      return (value, sheet) => typeof value === 'number' && Number.isFinite(value) && printNumber(value, sheet);
    case 'Boolean':
      return (value, sheet) => {
        if (typeof value !== 'boolean') return false;
        sheet.text += value ? 'true' : 'false';
        return true;
      };
    case 'ID':
      return (value, sheet) => printString(Number.isInteger(value) ? String(value) : value, sheet);
    default:
      return printString;
  }
}

function printEnum(type: GraphQLEnumType): Print {
  const texts = new Map<unknown, string>(type.getValues().map(({ name, value }) => [value, JSON.stringify(name)]));
  return (value, sheet) => {
    const text = texts.get(value);
    if (text === undefined) return false;
    sheet.text += text;
    return true;
  };
}

function printSerialized(type: GraphQLScalarType): Print {
  return (value, sheet) => {
    try {
      const text = JSON.stringify(type.serialize(value)) as string | undefined;
      if (text === undefined) return false;
      sheet.text += text;
      return true;
    } catch {
      return false;
    }
  };
}

function printNumber(value: number, sheet: Sheet): boolean {
  sheet.text += String(value);
  return true;
}

/** What JSON has an escape for: quotes, backslashes, control characters, and surrogates, which may be lone. */

const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

function printString(value: unknown, sheet: Sheet): boolean {
  if (typeof value !== 'string') return false;
  sheet.text += ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
  return true;
}
