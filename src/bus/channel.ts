/** One part of a channel's name: a path that a binding matches, with the value that it must have. */
export interface ChannelKey {
  readonly path: string;
  /** `undefined`: any value. */
  readonly value: string | undefined;
}

/** A payload's values at the paths of its topic, as text; equal values have equal texts. undefined: the value cannot be matched. */
export type PathValues = readonly (string | undefined)[];

/**
 * The name of a channel, the same for the publisher and the subscriber. Values are JSON strings, so no value can be mistaken for another
 * part of the name, whatever characters it holds (lone surrogates included).
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

/** True for a plain channel, on which any program may publish. With an empty prefix there are none. */
export function isPlain(name: string, prefix: string): boolean {
  return !name.startsWith(prefix);
}

/** The part of a channel's name that is safe to log: without the values, which are clients' arguments. Of a plain one: its first word. */
export function channelLabel(name: string): string {
  return name.endsWith('}') ? name.split('{', 1)[0]! : /^[A-Za-z0-9]*/.exec(name)![0];
}

/** A channel's name without its values, which are arguments and claims of clients: `bids{bid.auction_id=…}`; `=*` is any value. */
export function channelPattern(name: string, prefix: string): string {
  if (isPlain(name, prefix)) return channelLabel(name);
  return name
    .slice(prefix.length)
    .replaceAll(KEY, (_, path: string, value: string) => `${path}=${value === '*' ? '*' : '…'}`);
}

/** The topic of a channel. The prefix may be any text, even with a `{`. */
export function topicOf(name: string, prefix: string): string {
  return channelLabel(name.slice(prefix.length));
}

/** A path and its value in a channel's name. The path of a header has its name as a JSON string, which may hold any character. */
const KEY = /(\.header "(?:\\.|[^"\\])*"|[^{},="]+)=(\*|"(?:\\.|[^"\\])*")/g;

/** What `channelName` was called with. */
export function channelKeys(name: string): ChannelKey[] {
  return Array.from(name.slice(name.indexOf('{')).matchAll(KEY), ([, path, value]) => ({
    path: path!,
    value: value === '*' ? undefined : (JSON.parse(value!) as string),
  }));
}
