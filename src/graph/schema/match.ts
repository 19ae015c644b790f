import { Kind, getNullableType, isEnumType, isListType, isNonNullType, isScalarType, print } from 'graphql';
import type { ConstValueNode, GraphQLField } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { KEY_PART, headerPart, isRecordPart, keyPathPart, partLabel, pathInKey } from '../record-parts.ts';
import { quotesHint } from './directive-arguments.ts';
import { matchedScalarOf } from './matched-scalar.ts';
import type { MatchedScalar } from './matched-scalar.ts';
import { isPath } from './payload-path.ts';

/** One `match` of an @kafka directive. */
export interface Match {
  readonly arg: string;
  /** Path in the converted payload, separated by dots; or a part of the record (`record-parts.ts`). */
  readonly path: string;
  /** True for a nullable argument: left out or null, it matches every value. */
  readonly isOptional: boolean;
  /** Absent for other types. */
  readonly scalar?: MatchedScalar | undefined;
}

/** For n optional arguments a record goes to 2^n channels. */
const MAX_OPTIONAL_MATCHES = 4;

/** Reads the `match` of a @kafka. */
export function readMatches(
  items: readonly ConstValueNode[],
  field: GraphQLField<unknown, unknown>,
  problems: string[],
): Match[] {
  const matches: Match[] = [];
  for (const item of items) {
    const match = readMatch(item, field, problems);
    if (!match) continue;
    if (matches.some(({ arg }) => arg === match.arg))
      problems.push(`two matches for argument "${match.arg}"; keep one`);
    if (matches.some(({ path }) => path === match.path))
      problems.push(
        `two matches on ${isRecordPart(match.path) ? partLabel(match.path) : `path "${match.path}"`}; keep one`,
      );
    matches.push(match);
  }
  const optional = matches.filter((match) => match.isOptional).length;
  if (optional > MAX_OPTIONAL_MATCHES) {
    problems.push(
      `${optional} matched arguments may be left out, which makes ${2 ** optional} channels for each record; ` +
        `make all but ${MAX_OPTIONAL_MATCHES} non-null`,
    );
  }
  return matches;
}

/** The arguments that a match or a where names, even where it has a mistake. */
export function argumentsOf(items: readonly ConstValueNode[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const item of items) {
    for (const { name, value } of item.kind === Kind.OBJECT ? item.fields : []) {
      if (name.value === 'arg' && value.kind === Kind.STRING) names.add(value.value);
    }
  }
  return names;
}

function readMatch(item: ConstValueNode, field: GraphQLField<unknown, unknown>, problems: string[]): Match | undefined {
  const members = new Map(item.kind === Kind.OBJECT ? item.fields.map((part) => [part.name.value, part.value]) : []);
  const arg = members.get('arg');
  const path = members.get('path');
  const part = recordPartOf(members);
  if (arg?.kind !== Kind.STRING || (path?.kind !== Kind.STRING && part === undefined) || members.size !== 2) {
    problems.push(
      'each match must be { arg: "…", path: "…" }, { arg: "…", key: true }, { arg: "…", key: "…" } or { arg: "…", header: "…" }; ' +
        `got ${print(item)}${quotesHint(members, ['arg', 'path', 'key', 'header'])}`,
    );
    return undefined;
  }
  const text = path?.kind === Kind.STRING ? path.value : '';
  const definition = field.args.find((argument) => argument.name === arg.value);
  if (!definition) {
    const names = field.args.map((argument) => argument.name);
    const fix = didYouMean(arg.value, names) || `; its arguments are: ${names.join(', ') || 'none'}`;
    problems.push(`match of @kafka names the argument "${arg.value}", which the field does not have${fix}`);
  } else {
    const nullable = getNullableType(definition.type);
    const type = isListType(nullable) && isNonNullType(nullable.ofType) ? nullable.ofType.ofType : nullable;
    if (!isEnumType(type) && !isScalarType(type)) {
      problems.push(
        `argument "${arg.value}" is of type ${String(definition.type)}, which cannot be a key; ` +
          'use a scalar, an enum, or a list of one of them such as [ID!], or leave it out of match and read it in a resolver',
      );
    }
  }
  const inKey = part === undefined ? undefined : pathInKey(part);
  const isGoodPath =
    inKey === undefined
      ? part !== undefined || isPath(text, `match of "${arg.value}": path`, problems)
      : isPath(inKey, `match of "${arg.value}": key`, problems);
  if (!definition || !isGoodPath) return undefined;
  const isOptional = !isNonNullType(definition.type);
  const scalar = matchedScalarOf(definition.type);
  return { arg: arg.value, path: part ?? text, isOptional, ...(scalar && { scalar }) };
}

/** undefined: a match names no key and no header, or not as it should. */
function recordPartOf(members: ReadonlyMap<string, ConstValueNode>): string | undefined {
  const key = members.get('key');
  if (key?.kind === Kind.BOOLEAN && key.value) return KEY_PART;
  if (key?.kind === Kind.STRING) return keyPathPart(key.value);
  const header = members.get('header');
  return header?.kind === Kind.STRING && header.value !== '' ? headerPart(header.value) : undefined;
}
