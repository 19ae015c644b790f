import { withoutOpensslPlaces } from '../../base/openssl-text.ts';

/** True if Redis refused the command; false if the link failed. */
export function isReplyError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/**
 * The message of an error, safe to log. ioredis's errors are not: `command.args` holds passwords (AUTH) and payloads, and Redis repeats
 * the arguments of an unknown command.
 */
export function describe(error: Error): string {
  const text = error.message || ('code' in error && typeof error.code === 'string' ? error.code : error.name);
  return withoutOpensslPlaces(text)
    .split(', with args', 1)[0]!
    .replace(/ Please report this\.$/, '');
}
