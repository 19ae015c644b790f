import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { withKafka } from '../support/with-kafka.ts';
import { TcpProxy } from '../bus/redis/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 8;
const RECORDS_PER_SECOND = isFull ? 500 : 100;
const REBALANCES = isFull ? 10 : 2;
const MAX_TAKEOVER_MS = 15_000;
/** The shortest that Kafka allows, for the short form. */
const SHORT_SESSION_MS = 6000;
const FREEZE_MS = isFull ? 60_000 : SHORT_SESSION_MS + 3000;

describe('workers of one group', () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  const startWorker = (stage: Stage, settings: Readonly<Record<string, string>> = {}) =>
    stage.start('worker', { ...(!isFull && { KAFKA_SESSION_TIMEOUT_MS: `${SHORT_SESSION_MS}` }), ...settings });

  const startGateways = (stage: Stage) => Promise.all([stage.start('gateway'), stage.start('gateway')]);

  it('join and leave without loss, reordering or duplicates', async (t) => {
    const stage = await createStage(t, { brokers, partitions: PARTITIONS });
    const gateways = await startGateways(stage);
    let workers = await Promise.all([startWorker(stage), startWorker(stage)]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, gateways, { recordsPerSecond: RECORDS_PER_SECOND });
    for (let i = 0; i < REBALANCES; i++) {
      const more = await Promise.all([startWorker(stage), startWorker(stage)]);
      await stage.hasWorkers(4);
      await trial.hears('entries written with four workers');
      // The older workers leave, so that every partition is reassigned each time.
      assert.deepEqual(await Promise.all(workers.map((worker) => worker.stop())), [0, 0]);
      workers = more;
      await stage.hasWorkers(2);
      await trial.hears('entries written with two workers');
    }
    trial.took(`longest silence in ${2 * REBALANCES} rebalances`, trial.takeLongestSilence(), Infinity);
    assert.deepEqual(await trial.finish(), []);
  });

  it('take over from a killed worker without a loss', async (t) => {
    const stage = await createStage(t, { brokers, partitions: PARTITIONS });
    const gateways = await startGateways(stage);
    const [victim] = await Promise.all([startWorker(stage), startWorker(stage)]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, gateways, { recordsPerSecond: RECORDS_PER_SECOND });
    victim.process.kill('SIGKILL');
    assert.equal(await victim.ended, 'SIGKILL');
    await takenOver(trial);
    assert.deepEqual(await trial.finish(), []);
  });

  it('take over from a frozen worker, whose stale records reach no client after it is thawed', async (t) => {
    const stage = await createStage(t, { brokers, partitions: PARTITIONS });
    const gateways = await startGateways(stage);
    const proxy = await TcpProxy.start(t, stage.redis.port);
    const [victim] = await Promise.all([startWorker(stage, { REDIS_URL: proxy.url }), startWorker(stage)]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, gateways, { recordsPerSecond: RECORDS_PER_SECOND });
    await freezeInTheAct(victim, proxy);
    const frozenAt = performance.now();
    await takenOver(trial);
    await delay(Math.max(0, frozenAt + FREEZE_MS - performance.now()));
    victim.process.kill('SIGCONT');
    proxy.release();
    await stage.hasWorkers(2);
    await trial.hears('entries written after the thaw');
    assert.deepEqual(await trial.finish(), []);
  });

  it('deliver the records of two graphs in one group, while the worker that leads it is killed', async (t) => {
    const stages = [
      await createStage(t, { brokers, partitions: PARTITIONS }),
      await createStage(t, { brokers, partitions: PARTITIONS }),
    ] as const;
    const group = stages[0].name;
    const gateways = await Promise.all(stages.map((stage) => stage.start('gateway')));
    const workers: PodProcess[] = [];
    for (const stage of [...stages, ...stages]) workers.push(await startWorker(stage, { KAFKA_GROUP_ID: group }));
    await stages[0].hasWorkers(4, group);
    const rate = { recordsPerSecond: RECORDS_PER_SECOND };
    const trials = await Promise.all(stages.map((stage, i) => Trial.start(t, stage, [gateways[i]!], rate)));
    // The first to join leads.
    for (const victim of workers.slice(0, 2)) {
      victim.process.kill('SIGKILL');
      assert.equal(await victim.ended, 'SIGKILL');
      await Promise.all(trials.map(takenOver));
    }
    for (const trial of trials) assert.deepEqual(await trial.finish(), []);
  });
});

/** Freezes a worker with records in flight to Redis, which arrive when the link is released. */
async function freezeInTheAct(victim: PodProcess, proxy: TcpProxy): Promise<void> {
  proxy.hold();
  await waitFor('records on their way', () => proxy.heldBytes > 0);
  victim.process.kill('SIGSTOP');
}

async function takenOver(trial: Trial): Promise<void> {
  trial.takeLongestSilence();
  await trial.hears('entries written after the fault');
  trial.took('takeover', trial.takeLongestSilence(), MAX_TAKEOVER_MS);
}
