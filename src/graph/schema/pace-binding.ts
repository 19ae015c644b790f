import { GraphQLInt, Kind, getNullableType } from 'graphql';
import type { ConstValueNode, GraphQLField } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import type { Pace } from '../pace.ts';
import { KEY_PART } from '../record-parts.ts';
import type { Match } from './match.ts';

/** The `pace` and the `slow` of a @kafka. */
export interface PaceRule extends Pace {
  /** The argument that gives a subscription a longer interval; undefined: there is none. */
  readonly arg?: string | undefined;
}

/** Bounds of an interval in ms. */
export const PACE_MS = { min: 10, max: 60_000 } as const;

const EXAMPLE = '{ ms: 250 }';

interface PaceScope {
  readonly field: GraphQLField<unknown, unknown>;
  readonly match: readonly Match[];
  /** The arguments that choose events. */
  readonly matched: ReadonlySet<string>;
  readonly hasState: boolean;
  readonly envelope: string | undefined;
}

/** Reads `pace` and `slow`; undefined: each event reaches each subscription. */
export function readPace(
  pace: ConstValueNode | undefined,
  slow: ConstValueNode | undefined,
  { field, match, matched, hasState, envelope }: PaceScope,
  problems: string[],
): PaceRule | undefined {
  const keepsSlow = readSlow(slow, problems);
  const interval = readInterval(pace, field, matched, problems);
  if (!interval && !keepsSlow) return undefined;
  if (envelope === 'OUTBOX') {
    const name = interval ? 'pace' : 'slow: LATEST';
    problems.push(
      `${name} with envelope: OUTBOX: each row of an outbox is an event of its own, which no newer one replaces; remove ${name}`,
    );
  }
  return { ms: 0, ...interval, keepsSlow, isOfChannel: isOfChannel(match, hasState) };
}

/** A state is the last payload of a channel, and a match on the key gives each key a channel: if a subscription cannot leave its values out. */
function isOfChannel(match: readonly Match[], hasState: boolean): boolean {
  if (match.length === 0 || match.some(({ isOptional }) => isOptional)) return false;
  return hasState || match.some(({ path }) => path === KEY_PART);
}

function readSlow(node: ConstValueNode | undefined, problems: string[]): boolean {
  if (!node || node.kind === Kind.NULL) return false;
  const value = node.kind === Kind.ENUM ? node.value : '';
  if (value !== 'LATEST' && value !== 'CLOSE')
    problems.push('slow must be LATEST or CLOSE, without quotes; left out, it is CLOSE');
  return value === 'LATEST';
}

function readInterval(
  node: ConstValueNode | undefined,
  field: GraphQLField<unknown, unknown>,
  matched: ReadonlySet<string>,
  problems: string[],
): Pick<PaceRule, 'ms' | 'arg'> | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  if (node.kind !== Kind.OBJECT) {
    problems.push(`pace must be an object such as ${EXAMPLE}`);
    return undefined;
  }
  const members = new Map(node.fields.map(({ name, value }) => [name.value, value]));
  for (const name of members.keys())
    if (!['ms', 'keep', 'arg'].includes(name)) problems.push(`pace has no "${name}"; use ms, keep and arg`);
  const keep = members.get('keep');
  if (keep && !(keep.kind === Kind.ENUM && keep.value === 'LATEST'))
    problems.push('pace.keep must be LATEST, without quotes; left out, it is LATEST');
  const given = members.get('ms');
  const ms = given?.kind === Kind.INT ? Number(given.value) : Number.NaN;
  if (!isInterval(ms)) {
    problems.push(
      `pace.ms must be a whole number of ms, ${PACE_MS.min} to ${PACE_MS.max}, without quotes, such as ${EXAMPLE}`,
    );
    return undefined;
  }
  const arg = readArgument(members.get('arg'), field, matched, ms, problems);
  return arg === undefined ? { ms } : { ms, arg };
}

function isInterval(ms: number): boolean {
  return ms >= PACE_MS.min && ms <= PACE_MS.max;
}

function readArgument(
  node: ConstValueNode | undefined,
  field: GraphQLField<unknown, unknown>,
  matched: ReadonlySet<string>,
  ms: number,
  problems: string[],
): string | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  const name = node.kind === Kind.STRING || node.kind === Kind.ENUM ? node.value : '';
  const definition = field.args.find((argument) => argument.name === name);
  if (node.kind !== Kind.STRING)
    problems.push(`pace.arg must be the name of an argument in quotes, such as "${name || 'every_ms'}"`);
  else if (!definition) {
    const names = field.args.map((argument) => argument.name);
    const fix = didYouMean(name, names) || `; add ${name}: Int to the field`;
    problems.push(`pace.arg names the argument "${name}", which the field does not have${fix}`);
  } else if (getNullableType(definition.type) !== GraphQLInt)
    problems.push(`pace.arg names the argument "${name}" of type ${String(definition.type)}; make it Int`);
  else if (matched.has(name))
    problems.push(`pace.arg names the argument "${name}", which match or where uses; remove it from one of them`);
  else if (isDefaultBelow(definition.defaultValue, ms))
    problems.push(
      `the argument "${name}" is ${String(definition.defaultValue)} by default, but pace allows ${ms} to ${PACE_MS.max}; correct the default or pace.ms`,
    );
  else return name;
  return undefined;
}

function isDefaultBelow(value: unknown, ms: number): boolean {
  return typeof value === 'number' && (value < ms || value > PACE_MS.max);
}
