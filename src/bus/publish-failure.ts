import { BusUnavailableError, FencedError } from '../base/errors.ts';

/** The first words of replies by which Redis refuses a write or a channel (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const REPLY_CODES = [
  'ASK',
  'BUSY',
  'CLUSTERDOWN',
  'CROSSSLOT',
  'DENIED',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'MOVED',
  'NOAUTH',
  'NOPERM',
  'NOREPLICAS',
  'OOM',
  'READONLY',
  'TRYAGAIN',
  'WRONGPASS',
  'WRONGTYPE',
] as const;

/** Why Redis did not accept a publish, as a label: one of few. `away`: there was no link, and no reply that says why. `fenced`: another worker has leased the partition. */
export type PublishFailure =
  (typeof REPLY_CODES)[number] | 'away' | 'closed' | 'connection_lost' | 'fenced' | 'timeout' | 'other';

const REPLY_CODE = new RegExp(`\\b(?:${REPLY_CODES.join('|')})\\b`);

/** @param text of the reply; Redis 6 puts the code of a command in a script behind its own words */
export function replyFailure(text: string): PublishFailure {
  // Redis 7.0 has words of its own for what a script may not do; Redis 7.2 and Valkey 8 have others, and so has Valkey 9.
  if (/^ERR (The user executing the script can|ACL failure in script)/.test(text)) return 'NOPERM';
  if (/^ERR (?:Script a|A)ttempted to access (a non local key|a slot not served|keys that do not hash)/.test(text))
    return 'CROSSSLOT';
  return (REPLY_CODE.exec(text)?.[0] as PublishFailure | undefined) ?? 'other';
}

/** Of what `Publisher.publish` throws. */
export function failureOf(error: unknown): string {
  if (error instanceof BusUnavailableError) return error.reason;
  return error instanceof FencedError ? 'fenced' : 'other';
}
