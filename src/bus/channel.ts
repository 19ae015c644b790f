/** What a channel is made of: the topic, and one value (or every value) for each path that a binding matches. */
export interface ChannelKey {
  readonly path: string;
  /** `undefined`: every value. */
  readonly value: string | undefined;
}

/** A payload's values at the paths of its topic, as texts that are equal when the values are; undefined: no value that can be. */
export type PathValues = readonly (string | undefined)[];

/**
 * The name of a channel, the same on the publishing and the subscribing side. Values are JSON strings, so no value can
 * run into another part of the name, whatever characters it holds (lone surrogates included).
 *
 * @example channelName('crier:', 'bids', [{ path: 'bid.auction_id', value: '7' }]) // 'crier:bids{bid.auction_id="7"}'
 */
export function channelName(prefix: string, topic: string, keys: readonly ChannelKey[]): string {
  let name = `${prefix}${topic}{`;
  for (let i = 0; i < keys.length; i++) {
    const { path, value } = keys[i]!;
    name += `${i === 0 ? '' : ','}${path}=${value === undefined ? '*' : JSON.stringify(value)}`;
  }
  return `${name}}`;
}

/** What may be logged of a channel: its name without the values, which are arguments of clients. */
export function channelLabel(name: string): string {
  return name.split('{', 1)[0]!;
}

/** The topic of a channel; its prefix may be any text, also one with a `{`. */
export function topicOf(name: string, prefix: string): string {
  return channelLabel(name.slice(prefix.length));
}
