import { list, secret, text } from '../../variable.ts';

export const redisVariables = {
  REDIS_URL: secret(
    list(
      '',
      'redis:// or rediss:// URLs, separated by commas',
      'Redis servers, channels spread by hash; not set: `EMBEDDED`.',
    ),
  ),
  CHANNEL_PREFIX: text('crier:', 'any text', "First part of every channel's name."),
  CURSOR_SECRET: secret(
    text(
      '',
      'at least 32 bytes',
      'Signs cursors; at least 32 bytes, the same on every pod; not set: a random one that the pods share through Redis.',
    ),
  ),
};
