import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { stageObserver } from '../../src/kafka/record-metrics.ts';

const messageAt = (timestamp: number) => ({ channel: 'c', payload: '{}', offset: 0, timestamp });

function createObserver() {
  const metrics = new Metrics();
  const observe = stageObserver(metrics);
  const read = async (name: string) => {
    const line = (await metrics.registry.metrics())
      .split('\n')
      .find((one) => one.startsWith(`crier_stage_seconds_${name}`));
    return Number(line?.split(' ').at(-1));
  };
  return { observe, read };
}

describe("the worker's stages", () => {
  it('are observed once for each message of a chunk', async () => {
    const { observe, read } = createObserver();
    const messages = [1000, 1000, 3000, 1000].map(messageAt);
    observe(messages, { startedAt: 4000, decodeMs: 500, publishMs: 250 });
    assert.deepEqual([await read('count{stage="fetch"}'), await read('sum{stage="fetch"}')], [4, 10]);
    assert.deepEqual([await read('count{stage="decode"}'), await read('sum{stage="decode"}')], [4, 2]);
    assert.deepEqual([await read('count{stage="publish"}'), await read('sum{stage="publish"}')], [4, 1]);
  });

  it('count a record from the future as 0, and leave out the fetch of one without a timestamp', async () => {
    const { observe, read } = createObserver();
    observe([messageAt(9000), messageAt(-1)], { startedAt: 4000, decodeMs: 1, publishMs: 1 });
    assert.deepEqual([await read('count{stage="fetch"}'), await read('sum{stage="fetch"}')], [1, 0]);
    assert.equal(await read('count{stage="decode"}'), 2);
  });

  it('are not observed for a chunk without messages', async () => {
    const { observe, read } = createObserver();
    observe([], { startedAt: 4000, decodeMs: 1, publishMs: 1 });
    assert.equal(await read('count{stage="publish"}'), 0);
  });
});
