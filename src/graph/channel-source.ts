import type { ConnectionFacts } from './context/connection-facts.ts';
import { channelsFor } from './channels.ts';
import type { Operation } from './documents/operation.ts';
import { sharingKey } from './documents/sharing-key.ts';
import type { ChannelSource } from './event-source.ts';
import type { SubscriptionArguments } from './execution/subscription-arguments.ts';
import { filterFor } from './filter/argument-filter.ts';
import type { FilterReaders } from './filter/filter-readers.ts';
import type { Pace } from './pace.ts';
import { plainChannelsFor } from './plain-channels.ts';
import type { Refusal } from './refusal.ts';
import { badInput } from './request-limits.ts';
import type { Binding } from './schema/binding.ts';
import { PACE_MS } from './schema/pace-binding.ts';
import type { PaceRule } from './schema/pace-binding.ts';
import type { RedisBinding } from './schema/redis-binding.ts';

/** The operation of a subscription, with its coerced arguments. */
export interface SelectedOperation extends Pick<SubscriptionArguments, 'args' | 'variables'> {
  readonly operation: Operation;
  /** Variables as the client sent them. */
  readonly sent: Readonly<Record<string, unknown>> | undefined;
}

export interface ChannelSourceOptions {
  readonly channelPrefix: string;
  /** Of the graph: operations of two graphs never share. */
  readonly generation: number;
  readonly hasSharing: boolean;
  /** More channels are refused; undefined: no limit. */
  readonly maxChannels: number | undefined;
  readonly filterReaders: FilterReaders;
}

/** @returns undefined: the connection lacks a claim that the binding demands */
export function channelSource(
  binding: Binding | RedisBinding,
  { operation, args, variables, sent }: SelectedOperation,
  { claims }: Pick<ConnectionFacts, 'claims'>,
  { channelPrefix, generation, hasSharing, maxChannels, filterReaders }: ChannelSourceOptions,
): ChannelSource | Refusal | undefined {
  const channels =
    'template' in binding
      ? plainChannelsFor(binding, args)
      : channelsFor(binding, channelPrefix, { args, claims }, maxChannels);
  if (channels === undefined || 'errors' in channels) return channels;
  const filter = binding.filters && filterFor(binding.filters, args, filterReaders.of(binding.filters));
  if (filter && 'errors' in filter) return filter;
  const pace = 'pace' in binding && binding.pace ? paceFor(binding.pace, args) : undefined;
  if (pace && 'errors' in pace) return pace;
  return {
    field: binding.field,
    channels,
    sharingKey:
      hasSharing && binding.isShared ? keyWithin(generation, sharingKey(operation, variables, sent)) : undefined,
    filter,
    replaysLast: binding.replaysLast === true || binding.state !== undefined,
    hasState: binding.state !== undefined,
    hasHistory: binding.history !== undefined,
    pace,
  };
}

/** The key of the first graph, which most pods serve to their end, is no longer than it must be. */
function keyWithin(generation: number, key: string | undefined): string | undefined {
  return generation === 0 || key === undefined ? key : `${generation} ${key}`;
}

/** The argument only slows: a client does not receive more than the field allows. */
function paceFor(rule: PaceRule, args: Readonly<Record<string, unknown>>): Pace | Refusal {
  const given = rule.arg === undefined ? undefined : args[rule.arg];
  if (typeof given !== 'number') return rule;
  if (given >= rule.ms && given <= PACE_MS.max) return { ...rule, ms: given };
  return badInput(
    `The argument "${rule.arg}" must be ${rule.ms} to ${PACE_MS.max}: the least time in ms between two events`,
  );
}
