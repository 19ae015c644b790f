import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { partitionKey } from '../../../src/kafka/partition-key.ts';
import { FlowWait } from '../../../src/kafka/session/flow-wait.ts';
import { InflightBudget } from '../../../src/kafka/client/fetching/inflight-budget.ts';
import { RunningBatches } from '../../../src/kafka/session/running-batches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readableLog } from '../consumer-harness.ts';
import { FakeGateways } from '../fake-gateways.ts';

const KEY = partitionKey('bids', 0);
const PARTITION = { topic: 'bids', partition: 0 };

/** Batches of a budget of 100 bytes, of which a partition has taken some. */
function createStage(t: TestContext, taken: number) {
  const budget = new InflightBudget(100);
  const gateways = new FakeGateways();
  const flow = new FlowWait(gateways, readableLog().log);
  const failures: Error[] = [];
  const onFailure = (error: Error) => void failures.push(error);
  const heartbeat = () => Promise.resolve();
  const batches = new RunningBatches({ budget, flow, heartbeatIntervalMs: 1000, heartbeat, onFailure });
  t.after(() => batches.close());
  t.after(() => flow.close());
  budget.reserve('1', KEY, taken);
  return { budget, gateways, batches, failures };
}

describe('RunningBatches', () => {
  it('releases the bytes of a batch when it has ended', async (t) => {
    const { budget, batches } = createStage(t, 40);
    await batches.run(PARTITION, () => Promise.resolve(), new AbortController().signal);
    assert.equal(budget.room, 100);
  });

  it('holds the partition of a detached batch until the batch has ended', async (t) => {
    const { budget, batches } = createStage(t, 40);
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const process = (detachment: { detach(): boolean }) => {
      assert.ok(detachment.detach());
      assert.ok(detachment.detach());
      return ended;
    };
    await batches.run(PARTITION, process, new AbortController().signal);
    assert.ok(budget.isHeld(KEY));
    assert.equal(budget.room, 60);
    end();
    await batches.ended();
    assert.equal(budget.isHeld(KEY), false);
    assert.equal(budget.room, 100);
  });

  it('holds the partition of a batch that drops its records until the gateways have room', async (t) => {
    const { budget, gateways, batches } = createStage(t, 60);
    const process = (detachment: { detach(): boolean }) => {
      assert.equal(detachment.detach(), false);
      assert.equal(detachment.detach(), false);
      return Promise.resolve();
    };
    await batches.run(PARTITION, process, new AbortController().signal);
    await waitFor('the wait', () => gateways.waiting('bids', 0) === 1);
    assert.ok(budget.isHeld(KEY));
    assert.equal(budget.room, 100);
    gateways.grant('bids', 0, 1);
    await batches.ended();
    assert.equal(budget.isHeld(KEY), false);
  });

  it('rejects if an attached batch fails, and reports the failure of a detached batch unless its signal is aborted', async (t) => {
    const { batches, failures } = createStage(t, 40);
    const error = new TypeError('broken');
    const end = new AbortController();
    await assert.rejects(
      batches.run(PARTITION, () => Promise.reject(error), end.signal),
      error,
    );
    const detached = (detachment: { detach(): boolean }) => {
      detachment.detach();
      return Promise.reject(error);
    };
    await batches.run(PARTITION, detached, end.signal);
    await batches.ended();
    assert.deepEqual(failures, [error]);
    end.abort();
    await batches.run(PARTITION, detached, end.signal);
    await batches.ended();
    assert.deepEqual(failures, [error]);
  });
});
