import { textOf } from './compared-text.ts';
import type { ChannelInput } from './channels.ts';
import type { Refusal } from './refusal.ts';
import { badInput } from './request-limits.ts';
import { argumentsOf, channelOfTemplate } from './schema/channel-template.ts';
import type { RedisBinding } from './schema/redis-binding.ts';

/**
 * The channel of a subscription to a field with @redis. Values are not escaped, because other programs know no escapes: a value that could
 * be mistaken for another part of the name is refused.
 */
export function plainChannelsFor(
  { template, separators }: RedisBinding,
  args: ChannelInput['args'],
): readonly [string] | Refusal {
  const values = new Map<string, string>();
  for (const name of argumentsOf(template)) {
    const value = textOf(args[name]);
    if (value === undefined || !isWord(value, separators)) {
      const forbidden = [...separators].map((separator) => JSON.stringify(separator)).join(', ');
      return badInput(`The argument "${name}" must be a text without ${forbidden}, and not empty`);
    }
    values.set(name, value);
  }
  return [channelOfTemplate(template, (name) => values.get(name)!)];
}

/** A lone surrogate would become U+FFFD in UTF-8, and so name the channel of another value. */
function isWord(value: string, separators: string): boolean {
  if (value === '' || Buffer.from(value).toString() !== value) return false;
  return ![...separators].some((separator) => value.includes(separator));
}
