import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { waitFor } from '../../../support/wait-for.ts';
import type { Cause } from './cause.ts';
import type { Stage } from './stage.ts';

const linkOf = ({ redis }: Stage, name: string, link: string) =>
  `${name}{server="127.0.0.1:${redis.port}",link="${link}"}`;
const ANY = 'subscription { any_thing { id } }';

/** Runs an action with a client of the stage's Redis. */
async function withRedis(stage: Stage, act: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(stage.redis.url);
  await act(client).finally(() => client.disconnect());
}

export const redisCauses: readonly Cause[] = [
  {
    title: 'a Redis that refuses publishes, and takes them again',
    metrics: ['crier_publish_failures_total', 'crier_paused_partitions', 'crier_kafka_lag_records'],
    run: async (stage) => {
      const lag = `crier_kafka_lag_records{topic="${stage.topic}",partition="0"}`;
      await withRedis(stage, async (admin) => {
        await admin.config('SET', 'maxmemory', '1');
        await stage.grows(['crier_publish_failures_total{reason="OOM"}'], () => stage.send('{"thing":{"id":"1"}}'));
        await stage.has('crier_paused_partitions', 1);
        await stage.has(lag, 1);
        await admin.config('SET', 'maxmemory', '0');
        await stage.has('crier_paused_partitions', 0);
        await stage.has(lag, 0);
      });
      assert.ok(stage.pod.lines.some(({ msg, reason }) => msg.startsWith('Redis did not accept') && reason === 'OOM'));
    },
  },
  {
    title: 'a lost subscriber link',
    metrics: ['crier_redis_reconnects_total', 'crier_bus_gaps_total', 'crier_gaps_total'],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, ANY, `${stage.topic}{}`);
      const reconnects = linkOf(stage, 'crier_redis_reconnects_total', 'subscriber');
      await stage.moves({ [reconnects]: 1, crier_bus_gaps_total: 1, 'crier_gaps_total{reason="bus"}': 1 }, () =>
        withRedis(stage, (admin) => admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')),
      );
      socket.close();
    },
  },
  {
    title: 'a Redis that is away',
    metrics: ['crier_redis_up'],
    run: async (stage) => {
      const [publisher, subscriber] = ['publisher', 'subscriber'].map((link) => linkOf(stage, 'crier_redis_up', link));
      await stage.has(publisher!, 1);
      stage.redis.process.kill('SIGSTOP');
      try {
        await stage.has(publisher!, 0);
        await stage.has(subscriber!, 0);
      } finally {
        stage.redis.process.kill('SIGCONT');
      }
      await stage.has(publisher!, 1);
      await stage.has(subscriber!, 1);
    },
  },
  {
    title: 'the delivery probe',
    metrics: ['crier_redis_round_trip_seconds'],
    run: async (stage) => {
      const server = `{server="127.0.0.1:${stage.redis.port}"}`;
      await stage.grows([`crier_redis_round_trip_seconds_count${server}`], () => undefined);
      assert.ok((await stage.value(`crier_redis_round_trip_seconds_sum${server}`)) > 0);
    },
  },
  {
    title: 'messages of another program, and one that arrives twice',
    metrics: ['crier_unrecognised_messages_total', 'crier_stale_messages_total', 'crier_events_total'],
    run: async (stage, t) => {
      const socket = await stage.subscribe(t, ANY, `${stage.topic}{}`);
      const channel = `${stage.topic}:${stage.topic}{}`;
      const spy = new Redis(stage.redis.url);
      const messages: Buffer[] = [];
      spy.on('messageBuffer', (_channel: Buffer, message: Buffer) => messages.push(message));
      await spy.subscribe(channel);
      await stage.moves({ crier_events_total: 1 }, () => stage.send('{"thing":{"id":"1"}}'));
      await waitFor('the message', () => messages.length > 0);
      spy.disconnect();
      await withRedis(stage, (client) =>
        stage.moves(
          { crier_stale_messages_total: 1, crier_unrecognised_messages_total: 1, crier_events_total: 0 },
          () => client.pipeline().publish(channel, messages[0]!).publish(channel, 'not JSON').exec(),
        ),
      );
      socket.close();
    },
  },
];
