import { channelName } from '../bus/channel.ts';
import type { ChannelKey } from '../bus/channel.ts';
import type { Claims } from './context/connection-facts.ts';
import { argumentTexts, emptyList } from './argument-texts.ts';
import { keysOf } from './channel-keys.ts';
import { textOf } from './compared-text.ts';
import type { Refusal } from './refusal.ts';
import { badInput } from './request-limits.ts';
import type { Binding } from './schema/binding.ts';
import { claimAt } from './schema/claim-where.ts';

const EVERY_VALUE = [undefined] as const;

/** A longer claim names no channel: channel names are kept for each subscription, and sent to Redis. */
const MAX_CLAIM_LENGTH = 256;

/** What a subscription gives for the names of its channels. */
export interface ChannelInput {
  /** Coerced. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly claims: Claims;
}

/**
 * The channels of a subscription, each once: one for each topic and each value of a list argument. A record is published to one of them
 * exactly when its topic is chosen, each given argument has the record's value, and each claim equals it. Values are equal if their texts
 * are: the Int 7 equals "7".
 *
 * @param maxChannels more of them are refused
 * @returns undefined if a claim is absent, is no string, number or boolean, or is too long: the subscription must be refused
 */
export function channelsFor(
  binding: Binding,
  prefix: string,
  { args, claims }: ChannelInput,
  maxChannels = Infinity,
): readonly string[] | Refusal | undefined {
  const topics = topicsFor(binding, args);
  if ('errors' in topics) return topics;
  let count = topics.length;
  const keys: { path: string; values: readonly (string | undefined)[] }[] = [];
  for (const key of keysOf(binding)) {
    const values = 'claim' in key ? claimValue(claims, key.claim) : (argumentTexts(args, key) ?? EVERY_VALUE);
    if (values === undefined || 'errors' in values) return values;
    count *= values.length;
    // Before any name is made: several lists have as many channels as the product of their lengths.
    if (count > maxChannels) break;
    keys.push({ path: key.path, values });
  }
  if (count > maxChannels) return badInput(tooMany(maxChannels));
  return topics.flatMap((topic) => combinationsOf(keys).map((named) => channelName(prefix, topic, named)));
}

function topicsFor({ topics, topicArgument }: Binding, args: ChannelInput['args']): readonly string[] | Refusal {
  if (!topicArgument) return topics;
  const { arg, byValue } = topicArgument;
  const given = args[arg];
  if (given === undefined || given === null) return topics;
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  if (values.length === 0) return badInput(emptyList(arg));
  // An enum has no other values.
  return [...new Set(values.map((value) => byValue.get(value as string)!))];
}

function claimValue(claims: Claims, claim: string): readonly string[] | undefined {
  const value = textOf(claimAt(claims, claim));
  return value === undefined || value.length > MAX_CLAIM_LENGTH ? undefined : [value];
}

function combinationsOf(
  keys: readonly { readonly path: string; readonly values: readonly (string | undefined)[] }[],
): readonly (readonly ChannelKey[])[] {
  let combinations: readonly (readonly ChannelKey[])[] = [[]];
  for (const { path, values } of keys) {
    combinations = combinations.flatMap((named) => values.map((value) => [...named, { path, value }]));
  }
  return combinations;
}

function tooMany(maxChannels: number): string {
  return `The arguments choose more than ${maxChannels} channels, one for each value of a list and each topic (MAX_OPERATIONS_PER_CONNECTION); subscribe more than once with a part of the list each`;
}
