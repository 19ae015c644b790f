import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { withKafka } from '../support/with-kafka.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 4;
const STEADY = { recordsPerSecond: isFull ? 500 : 200 };
const FREEZE_MS = isFull ? 60_000 : 15_000;
/** Longer than a worker waits for a gateway's report. */
const DEATH_MS = 8000;
/** `FLOW_PATIENCE_MS`, and one second. */
const MAX_SILENCE_MS = 6000;
/** 250 ms, and one second. */
const MAX_SILENCE_OF_KILL_MS = 1250;
const FLOOD = { records: isFull ? 6000 : 4000, recordsPerSecond: 4000, contentLength: 2000, work: 'work(ms: 1)' };
/** The shortest that Kafka allows. */
const SESSION = { KAFKA_SESSION_TIMEOUT_MS: '6000' };
/** More records than `MAX_PENDING_EVENTS` in all. */
const SLOW_BACKEND = { records: 2000, recordsPerSecond: 4000, work: 'wait(ms: 1000)' };
/** Waits so long that more than `MAX_PENDING_EVENTS` wait at once however slowly a busy machine writes them. */
const SLOWER_BACKEND = { ...SLOW_BACKEND, work: 'wait(ms: 8000)' };
const OFF = { DISABLE: 'flow-control' };

/** Resolves when the worker knows the gateways. A single record is never limited. */
const isInStep = (stage: Stage, trial: Trial) =>
  stage.until('two seconds', () => trial.heard >= 2 * STEADY.recordsPerSecond);

describe('flow control', () => {
  let brokers: string;
  withKafka((started) => (brokers = started));

  const stageFor = (t: TestContext) => createStage(t, { brokers, partitions: PARTITIONS });

  const startTwoGateways = async (stage: Stage) => {
    const [healthy, victim] = await Promise.all([stage.start('gateway'), stage.start('gateway')]);
    await stage.start('worker');
    return { healthy, victim };
  };

  it('does not wait for a frozen gateway: clients of another receive everything, its own receive gaps', async (t) => {
    const stage = await stageFor(t);
    const { healthy, victim } = await startTwoGateways(stage);
    const trial = await Trial.start(t, stage, [healthy, victim], STEADY);
    await isInStep(stage, trial);
    trial.takeLongestSilence();
    victim.process.kill('SIGSTOP');
    await delay(FREEZE_MS);
    trial.took('silence beside the frozen gateway', trial.takeLongestSilence(), MAX_SILENCE_MS);
    victim.process.kill('SIGCONT');
    await trial.hears('entries written after the thaw');
    trial.took('silence beside the thawed gateway', trial.takeLongestSilence(), MAX_SILENCE_MS);
    assert.deepEqual(await trial.finish(victim), []);
  });

  it('does not wait for a killed gateway: clients of another receive everything', async (t) => {
    const stage = await stageFor(t);
    const { healthy, victim } = await startTwoGateways(stage);
    const trial = await Trial.start(t, stage, [healthy, victim], STEADY);
    await isInStep(stage, trial);
    trial.takeLongestSilence();
    victim.process.kill('SIGKILL');
    assert.equal(await victim.ended, 'SIGKILL');
    await delay(DEATH_MS);
    await trial.hears('entries written after the kill');
    trial.took('silence beside the killed gateway', trial.takeLongestSilence(), MAX_SILENCE_OF_KILL_MS);
    assert.deepEqual(await trial.finish(victim), []);
  });

  it('resumes after a worker was killed in a flood, without loss or duplicates', async (t) => {
    const stage = await stageFor(t);
    const gateway = await stage.start('gateway');
    const [victim] = await Promise.all([stage.start('worker', SESSION), stage.start('worker', SESSION)]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, [gateway], FLOOD);
    await trial.isWritten();
    victim.process.kill('SIGKILL');
    assert.equal(await victim.ended, 'SIGKILL');
    assert.ok(trial.heard < FLOOD.records, 'the flood is over');
    assert.deepEqual(await trial.finish(), []);
  });

  it('keeps pace with a backend that answers after a second: no connection is closed, nothing is lost', async (t) => {
    const stage = await stageFor(t);
    const gateway = await stage.start('gateway');
    await stage.start('worker');
    const trial = await Trial.start(t, stage, [gateway], SLOW_BACKEND);
    await trial.isWritten();
    assert.deepEqual(await trial.finish(), []);
  });

  it('when off, lets that backend close connections with 1013', async (t) => {
    const stage = await stageFor(t);
    const gateway = await stage.start('gateway', OFF);
    await stage.start('worker', OFF);
    const trial = await Trial.start(t, stage, [gateway], SLOWER_BACKEND);
    await trial.isWritten();
    await stage.until('a close', () => trial.subscribers.some(({ closeCode }) => closeCode === 1013));
  });
});
