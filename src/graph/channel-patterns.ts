import { channelName } from '../bus/channel.ts';
import type { Retention } from '../bus/history.ts';
import { keysOf } from './channel-keys.ts';
import { KEY_PART, isRecordPart } from './record-parts.ts';
import type { Binding } from './schema/binding.ts';
import { keyedMatch } from './schema/tombstone-binding.ts';

/** The names of a set of channels: for each path of a match or where, in order, its index in the topic's values; undefined: every value. */
export interface Pattern {
  readonly keys: readonly { readonly path: string; readonly index: number | undefined }[];
  /** The channel's name if it depends on no value. */
  readonly constant: string | undefined;
  readonly history: Retention | undefined;
  /** True if tombstones go there: the name needs no value of a payload, or only one that the record's key gives. */
  readonly takesTombstones: boolean;
  /** True if the name contains a single value, for which tombstones take their key. */
  readonly isNamedByKey: boolean;
}

/**
 * The path of a topic's payloads whose value the key of a tombstone gives: the declared one, else the only one of the topic's fields with
 * `state`. undefined: there is none.
 */
export function keyedPathOf(bindings: readonly Binding[]): string | undefined {
  const [first, ...others] = keyedPathsOf(bindings.filter(({ state }) => state));
  return declaredPathOf(bindings) ?? (others.length === 0 ? first : undefined);
}

/** The path that the fields with `tombstone` and without `state` agree on: only the key routes their tombstones. */
export function declaredPathOf(bindings: readonly Binding[]): string | undefined {
  return keyedPathsOf(bindings.filter(({ tombstone, state }) => tombstone && !state))[0];
}

/** The paths of matches whose value the key of a tombstone may give, each once. */
export function keyedPathsOf(bindings: readonly Binding[]): readonly string[] {
  return [...new Set(bindings.flatMap(({ match }) => keyedMatch(match)?.path ?? []))];
}

/** True if the tombstones of a binding go to the channels of a pattern: each value in their names is known without a payload. */
function takesTombstonesOf({ tombstone, state }: Binding, keys: Pattern['keys'], keyed: string | undefined): boolean {
  if (!tombstone && !state) return false;
  return keys.every(({ path, index }) => index === undefined || isRecordPart(path) || path === keyed);
}

/** The patterns of a topic's bindings, each once. @param paths of the topic's values */
export function patternsOf(
  topic: string,
  bindings: readonly Binding[],
  prefix: string,
  paths: readonly string[],
): readonly Pattern[] {
  const keyed = keyedPathOf(bindings);
  const patterns = new Map<string, Pattern>();
  for (const binding of bindings) {
    let combinations: { path: string; index: number | undefined }[][] = [[]];
    for (const key of keysOf(binding)) {
      const { path } = key;
      const index = paths.indexOf(path);
      combinations = combinations.flatMap((keys) => [
        [...keys, { path, index }],
        ...('isOptional' in key && key.isOptional ? [[...keys, { path, index: undefined }]] : []),
      ]);
    }
    for (const keys of combinations) {
      const isConstant = keys.every((key) => key.index === undefined);
      const constant = channelName(
        prefix,
        topic,
        keys.map(({ path }) => ({ path, value: undefined })),
      );
      const identity = keys.map(({ path, index }) => `${path}=${index === undefined ? '*' : '?'}`).join();
      const known = patterns.get(identity);
      const keyIndex = needsKeyIndex(binding, keys) ? `${prefix}${topic}[${identity}]` : undefined;
      const history = larger(known?.history, retentionOf(binding, keyIndex));
      const takesTombstones = known?.takesTombstones === true || takesTombstonesOf(binding, keys, keyed);
      const isNamedByKey = !isConstant && keys.every(({ path, index }) => index === undefined || path === keyed);
      patterns.set(identity, {
        keys,
        constant: isConstant ? constant : undefined,
        history,
        takesTombstones,
        isNamedByKey,
      });
    }
  }
  return [...patterns.values()];
}

/** True if a channel may have records of several keys, of which the state is one. Without an `envelope`, only values of payloads make it so. */
function needsKeyIndex({ envelope }: Binding, keys: Pattern['keys']): boolean {
  const named = keys.filter(({ index }) => index !== undefined);
  if (envelope === undefined) return named.some(({ path }) => !isRecordPart(path));
  return named.length === 0 || named.some(({ path }) => path !== KEY_PART);
}

const NO_HISTORY = { entries: 0, bytes: 0, seconds: 0 };

function retentionOf({ history, state }: Binding, keyIndex: string | undefined): Retention | undefined {
  if (!state) return history;
  return { ...(history ?? NO_HISTORY), stateSeconds: state.seconds, ...(keyIndex !== undefined && { keyIndex }) };
}

function larger(a: Retention | undefined, b: Retention | undefined): Retention | undefined {
  if (!a || !b) return a ?? b;
  const stateSeconds = longerState(a.stateSeconds, b.stateSeconds);
  return {
    entries: Math.max(a.entries, b.entries),
    bytes: Math.max(a.bytes, b.bytes),
    seconds: Math.max(a.seconds, b.seconds),
    ...(stateSeconds !== undefined && { stateSeconds }),
    ...((a.keyIndex ?? b.keyIndex) !== undefined && { keyIndex: a.keyIndex ?? b.keyIndex }),
  };
}

/** 0 is for ever. */
function longerState(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a === 0 || b === 0 ? 0 : Math.max(a, b);
}
