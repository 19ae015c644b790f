import type { KeptStates } from './session/start-offsets.ts';

/** What a graph reads. */
export interface KafkaReads {
  readonly topics: readonly string[];
  /** undefined: the worker keeps no states. */
  readonly states?: KeptStates | undefined;
}

/** True if both read the same topics, in any order, and keep the same states. */
export function isSameReads(one: KafkaReads, other: KafkaReads): boolean {
  const textOf = ({ topics, states }: KafkaReads) =>
    JSON.stringify([topics.toSorted(), [...(states?.signatures ?? [])].sort()]);
  return textOf(one) === textOf(other);
}
