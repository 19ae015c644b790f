import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Redis } from 'ioredis';
import type { RedisAccess } from '../../../src/bus/redis/redis-access.ts';
import { RedisLink } from '../../../src/bus/redis/redis-link.ts';
import { logLines } from '../log-lines.ts';
import { targetOf } from '../../support/redis-target.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

it('leaves no connection when the link closes while another client takes its subscriptions over', async (t) => {
  const { url } = await redisServer(t);
  const admin = new Redis(url);
  t.after(() => admin.disconnect());
  const clients: Redis[] = [];
  t.after(() => clients.forEach((client) => client.disconnect()));
  let renew: (() => void) | undefined;
  const access = {
    attach: (client: Redis, onChange: () => void) => {
      clients.push(client);
      renew ??= onChange;
      return () => undefined;
    },
  } as unknown as RedisAccess;
  let closing: Promise<void> | undefined;
  const link: RedisLink = new RedisLink({
    ...{ target: targetOf(url), access, role: 'subscriber', log: logLines().log, silenceTimeoutMs: 6_000 },
    ...{ onUp: () => undefined, onDown: () => undefined },
    createMark: () => ({
      channel: 'mark',
      kind: 'subscribe',
      publish: async () => {
        await admin.publish('mark', '');
        closing = link.close();
      },
    }),
  });
  await link.start();
  await link.client.subscribe('a');
  renew!();
  await waitFor('the close', () => closing !== undefined);
  await closing;
  const isAlone = async () => ((await admin.client('LIST')) as string).trim().split('\n').length === 1;
  await waitFor('the end of all its connections', isAlone, 3_000);
  assert.equal(clients.length, 2);
});
