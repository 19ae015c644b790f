import { topicOf } from '../channel.ts';
import { parseMessage } from '../coordinates.ts';
import type { History, HistoryEntry, HistoryQuery } from '../history.ts';
import type { RedisLink } from './redis-link.ts';
import { fillsKey, ownersKey } from './redis-keys.ts';
import { HISTORY, runScript } from './redis-scripts.ts';

/**
 * What Redis has kept of a channel, whose name begins with `prefix`.
 * @throws BusUnavailableError
 */
export async function readHistory(
  link: RedisLink,
  prefix: string,
  channel: string,
  { from, maxEntries, maxBytes }: HistoryQuery,
): Promise<History> {
  const topic = topicOf(channel, prefix);
  const args = [topic, from ?? '', maxEntries, maxBytes];
  const [epoch, ...messages] = (await runScript(
    link,
    HISTORY,
    [ownersKey(prefix), channel, fillsKey(prefix)],
    args,
  )) as Buffer[];
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
