import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import { redisServer } from '../support/services.ts';
import { withKafka } from '../support/with-kafka.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { withRedis } from '../support/with-redis.ts';
import { Balancer } from './balancer.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import { Trial } from './trial.ts';

const RECORDS_PER_SECOND = isFull ? 200 : 100;
const MAX_SILENCE_MS = 5_000;

describe('a Redis that fails over behind one name', () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  it('is left although its links live on and it answers READONLY: entries flow within 5 s, none is lost', async (t) => {
    const flags = async () => ['--dir', await temporaryFolder(t), '--repl-diskless-sync-delay', '0'];
    const [old, young] = [
      await redisServer(t, { flags: await flags() }),
      await redisServer(t, { flags: await flags() }),
    ];
    await withRedis(young, {}, async (client) => {
      await client.replicaof('127.0.0.1', old.port);
      const isLinked = async () => (await client.info('replication')).includes('master_link_status:up');
      await waitFor('the replica', isLinked);
    });
    const name = await Balancer.start(t, [old.port]);
    // A replica refuses what keeps the history, but not what publishes.
    const stage = await createStage(t, { brokers, partitions: 2, history: HISTORY_DEFAULTS });
    const settings = { REDIS_URL: `redis://127.0.0.1:${name.port}` };
    const [gateway, other] = [await stage.start('gateway', settings), await stage.start('gateway', settings)];
    await stage.start('worker', settings);
    const options = { recordsPerSecond: RECORDS_PER_SECOND, expectsGaps: true };
    const trial = await Trial.start(t, stage, [gateway, other], options);
    trial.takeLongestSilence();
    await withRedis(young, {}, (client) => client.replicaof('NO', 'ONE'));
    await withRedis(old, {}, (client) => client.replicaof('127.0.0.1', young.port));
    name.add(young.port);
    name.remove(old.port);
    await trial.hears('entries written after the failover');
    trial.took('silence around the failover', trial.takeLongestSilence(), MAX_SILENCE_MS);
    assert.deepEqual(await trial.finish(), []);
  });
});
