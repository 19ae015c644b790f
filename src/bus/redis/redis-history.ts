import { topicOf } from '../channel.ts';
import type { History, HistoryEntry, HistoryQuery } from '../history.ts';
import { parseMessage } from './message-header.ts';
import { fillsKey, ownersKey } from './redis-keys.ts';
import { runScript } from './redis-scripts.ts';
import type { RedisTag } from './redis-tag.ts';

/**
 * What Redis has kept of a channel of a tag.
 * @throws BusUnavailableError
 */
export async function readHistory(
  { name, prefix, publisher, scripts }: RedisTag,
  channel: string,
  { from, maxEntries, maxBytes }: HistoryQuery,
): Promise<History> {
  const topic = topicOf(name + channel, prefix);
  const keys = [ownersKey(prefix), name + channel, fillsKey(prefix)];
  const args = [topic, from ?? '', maxEntries, maxBytes];
  const [epoch, ...messages] = (await runScript(publisher, scripts.history, keys, args)) as Buffer[];
  return { epoch: Number(epoch), entries: entriesOf(messages) };
}

function entriesOf(messages: readonly Buffer[]): HistoryEntry[] {
  const entries: HistoryEntry[] = [];
  for (const message of messages) {
    const { payload, coordinates } = parseMessage(message);
    if (coordinates)
      entries.push({ payload, coordinates: { ...coordinates, previous: entries.at(-1)?.coordinates.entry } });
  }
  return entries;
}
