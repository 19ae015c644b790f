import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 8;
const RECORDS_PER_SECOND = isFull ? 500 : 100;
/** Longer than a group session, also in the short form. */
const AWAY_MS = isFull ? 60_000 : 12_000;
const MAX_SILENCE_MS = 5000;
/** The partition with poison records. */
const POISONED = '0';

describe('the dead-letter topic', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('is unavailable for a while: nothing is lost, other partitions flow, and the workers stay in their group', async (t) => {
    const stage = await createStage(t, { brokers: outside.brokers, partitions: PARTITIONS });
    const gateways = await Promise.all([stage.start('gateway')]);
    const workers = await Promise.all([stage.start('worker'), stage.start('worker')]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, gateways, { recordsPerSecond: RECORDS_PER_SECOND });
    const joins = () =>
      workers.reduce((sum, { log }) => sum + log.split('"msg":"joined the consumer group"').length - 1, 0);
    const joinsBefore = joins();
    const waiting = async () => {
      const counts = await Promise.all(workers.map((pod) => pod.metric('crier_dead_letter_waiting_partitions')));
      return counts.reduce((sum, count) => sum + count, 0);
    };

    // The topic refuses even a record without a body.
    await outside.limitMessages(`${stage.name}-dead`, 1);
    await outside.send(stage.name, [{ partition: Number(POISONED), key: 'poison', value: 'no JSON' }]);
    await stage.until('a waiting partition', async () => (await waiting()) === 1);
    const others = trial.subscribers.filter(({ interest: { lane } }) => lane !== undefined && lane !== POISONED);
    let longestMs = 0;
    for (const end = performance.now() + AWAY_MS; performance.now() < end;) {
      const since = performance.now();
      const heard = others.map(({ received }) => received.length);
      await stage.until('the other partitions', () => others.every(({ received }, i) => received.length > heard[i]!));
      longestMs = Math.max(longestMs, performance.now() - since);
    }
    trial.took('longest silence of another partition', longestMs, MAX_SILENCE_MS);
    assert.equal(await waiting(), 1);

    await outside.limitMessages(`${stage.name}-dead`, 1_000_000);
    await stage.until('no waiting partition', async () => (await waiting()) === 0);
    trial.took('until every partition flows', await trial.hears('entries written after the fault'), MAX_SILENCE_MS);
    assert.deepEqual(await trial.finish(), []);
    assert.equal(joins(), joinsBefore, 'no worker rejoined the group');
    const [dead] = await outside.readAll(`${stage.name}-dead`, 1);
    assert.equal(dead?.value?.toString(), 'no JSON');
    assert.equal(String(dead.headers!['crier-partition']), POISONED);
  });
});
