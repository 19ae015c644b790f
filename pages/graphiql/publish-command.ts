import type { ComparedValue, ExampleRecord, RecordPart } from '../../src/graph/schema/event-source-type.ts';
import { claimAt } from './claims.ts';
import type { Operation } from './operation.ts';
import { canBePasted, quoted, word } from './shell-word.ts';

export interface PublishTerms {
  readonly topic: string;
  /** Of the subscription. */
  readonly args: Operation['args'];
  /** Of the connection, as far as the page knows them. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface PublishCommand {
  readonly command: string;
  /** Claims that stand in the command by their names, as `<tenant>`. */
  readonly unknownClaims: readonly string[];
}

/** Separate a key from its value. */
const SEPARATORS = ['|', '#', '~', '=>'];

/**
 * The command of a shell that writes a record which the subscriber receives; undefined: it cannot write one of its keys or headers. A record has a
 * key wherever it can: compacted topics demand one.
 */
export function publishCommand(
  terms: PublishTerms,
  { value: required, parts }: ExampleRecord,
  { brokers }: { readonly brokers: readonly string[] },
): PublishCommand | undefined {
  const value: Record<string, unknown> = {};
  const key: Record<string, unknown> = {};
  const options: string[] = [];
  const unknownClaims: string[] = [];
  let wholeKey: unknown;
  for (const { of, path, compared } of parts) {
    const known = 'claim' in compared ? claimAt(terms.claims, compared.claim) : passing(compared, terms.args);
    if ('claim' in compared && known === undefined) unknownClaims.push(compared.claim);
    const part = known ?? ('claim' in compared ? `<${compared.claim}>` : undefined);
    if (part === undefined) continue;
    if (of === 'header') {
      // The command leaves out spaces before a value.
      if (/^\s/.test(textOf(part))) return undefined;
      options.push(`--header ${quoted(`${path[0]!}: ${textOf(part)}`)}`);
    } else if (of === 'key' && path.length === 0) wholeKey = part;
    else put(of === 'key' ? key : value, path, part);
  }
  complete(value, required);
  const keyText = wholeKey === undefined ? (isEmpty(key) ? undefined : JSON.stringify(key)) : textOf(wholeKey);
  if (keyText !== undefined && !isKeyOfLine(keyText)) return undefined;
  const separator = keyText === undefined ? undefined : separatorOf(keyText);
  const keyPath = keyPathOf(parts, value);
  if (separator !== undefined) options.unshift(`--key-separator ${quoted(separator)}`);
  else if (keyPath) options.unshift(`--key ${word(keyPath.join('.'))}`);
  const line = (separator === undefined ? '' : keyText! + separator) + JSON.stringify(value);
  const settings = brokers.length > 0 ? `KAFKA_BROKERS=${word(brokers.join(','))} ` : '';
  const publish = ['npx --no-install crier publish', word(terms.topic), ...options].join(' ');
  // `echo` of some shells interprets the backslashes of JSON.
  const command = String.raw`printf '%s\n' ${quoted(line)} | ${settings}${publish}`;
  return canBePasted(command) ? { command, unknownClaims } : undefined;
}

/** True if the command takes the text for a key as it is: it refuses an empty one, and prints an object as JSON. */
function isKeyOfLine(key: string): boolean {
  if (!key.trimStart().startsWith('{')) return key.trim() !== '';
  try {
    return JSON.stringify(JSON.parse(key)) === key;
  } catch {
    return false;
  }
}

/** One whose first place in a line is behind the key. */
function separatorOf(key: string): string {
  const isFirst = (one: string) => (key + one).indexOf(one) === key.length;
  let numbered = 0;
  let separator = SEPARATORS.find(isFirst);
  while (separator === undefined) if (isFirst(`|${++numbered}|`)) separator = `|${numbered}|`;
  return separator;
}

/** A value that passes the comparison; undefined: every value does, because the argument is left out. */
function passing({ op, arg, isList, examples }: ComparedValue, args: Operation['args']): unknown {
  const given = args[arg];
  const value: unknown = Array.isArray(given) ? given[0] : given;
  if (value === undefined || value === null) return op === undefined ? examples[0] : undefined;
  switch (op) {
    case 'NE':
      return examples.find((one) => textOf(one) !== textOf(value));
    case 'LT':
      return next(value, -1) ?? '';
    case 'GT':
      return next(value, 1) ?? `${textOf(value)}1`;
    default:
      return isList ? [value] : value;
  }
}

/** The next number; undefined: the value is none. */
function next(value: unknown, step: 1 | -1): unknown {
  if (typeof value === 'number') return value + step;
  const text = textOf(value);
  if (/^-?\d+$/.test(text)) return String(BigInt(text) + BigInt(step));
  return /^-?\d+\.\d+$/.test(text) ? String(Number(text) + step) : undefined;
}

/** What the record's key is taken from: what subscribers choose by, else the first text or number of the value. */
function keyPathOf(
  parts: readonly RecordPart[],
  value: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const matched = parts.find(({ of, compared }) => of === 'value' && 'arg' in compared && compared.op === undefined);
  return matched?.path ?? firstLeaf(value);
}

function firstLeaf(value: object, path: readonly string[] = []): readonly string[] | undefined {
  for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
    const found = [...path, name];
    if (typeof inner === 'string' || typeof inner === 'number') return found;
    const below = isObject(inner) ? firstLeaf(inner, found) : undefined;
    if (below) return below;
  }
  return undefined;
}

/** Of several parts at one place the first stays. */
function put(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [last] = path.slice(-1);
  if (last === undefined) return;
  let inner = record;
  for (const key of path.slice(0, -1)) inner = (inner[key] ??= {}) as Record<string, unknown>;
  inner[last] ??= value;
}

/** Adds what the record lacks. */
function complete(record: Record<string, unknown>, required: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(required)) {
    const own = record[name];
    if (own === undefined) record[name] = value;
    else if (isObject(own) && isObject(value)) complete(own, value);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
