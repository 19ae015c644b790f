import { Kind } from 'graphql';
import type { ConstValueNode } from 'graphql';

const MAX_SECONDS = 31_536_000;

/** What a channel keeps for subscriptions that begin. */
export interface StateLimits {
  /** Seconds after which the last payload is forgotten; 0: never, only a tombstone removes it. */
  readonly seconds: number;
}

/** Reads the `state` of a @kafka. undefined: channels keep no last payload for subscriptions that begin. */
export function readState(node: ConstValueNode | undefined, problems: string[]): StateLimits | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  if (node.kind !== Kind.OBJECT) {
    problems.push(
      'state must be an object such as {} or { seconds: 3600 }; {} keeps the last payload until a tombstone',
    );
    return undefined;
  }
  let seconds = 0;
  for (const { name, value } of node.fields) {
    if (name.value !== 'seconds') {
      problems.push(`state has no "${name.value}"; use seconds`);
      continue;
    }
    const number = value.kind === Kind.INT ? Number(value.value) : Number.NaN;
    if (number >= 1 && number <= MAX_SECONDS) seconds = number;
    else problems.push(`state.seconds must be a whole number of seconds, 1 to ${MAX_SECONDS}, without quotes`);
  }
  return { seconds };
}
