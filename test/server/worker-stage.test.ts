import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { createLog } from '../../src/base/log.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { createWorker } from '../../src/server/worker-stage.ts';
import type { Component, RoleServices } from '../../src/server/services.ts';
import { Versioned } from '../../src/server/versioned.ts';
import { Tunables } from '../../src/ops/tunables/tunables.ts';
import { FakeGateways } from '../kafka/fake-gateways.ts';
import { waitFor } from '../support/wait-for.ts';
import { testConfig } from '../support/switches.ts';

/** The worker of the embedded mode, and the gateways before which it publishes. */
async function createStage(t: TestContext) {
  const log = createLog('silent');
  const components: Component[] = [];
  const register: RoleServices['register'] = (component) => {
    components.unshift(component);
    return component;
  };
  const gateways = new FakeGateways();
  let published = 0;
  const bus = new MemoryBus({ prefix: 'test:', log, observer: { onPublish: () => published++ } });
  Object.assign(bus, { publish: gateways.before(bus.publish.bind(bus)) });
  Object.assign(bus.sender, { room: gateways.room.bind(gateways), whenRoom: gateways.whenRoom.bind(gateways) });
  await bus.start();
  const graph = await loadGraph('examples/auction');
  const metrics = new Metrics();
  const config = testConfig({ SAMPLE_INTERVAL_MS: '1' });
  const worker = register(
    await createWorker(
      {
        config,
        tunables: new Tunables({ config, log }),
        graph: new Versioned(graph),
        bus,
        log,
        metrics,
        details: {},
        register,
      },
      (error) => assert.fail(error),
    ),
  );
  t.after(async () => {
    for (const component of components) await component.close();
    await bus.close();
  });
  /** The first line of a metric. */
  const metric = async (name: string) => {
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.find((line) => line.startsWith(name)) ?? '';
  };
  const topics = [...graph.bindings.values()].flatMap((binding) => binding.topics);
  return { worker, topics, gateways, published: () => published, metric };
}

describe('the worker of the embedded mode', () => {
  it('publishes no sample until the gateways have room', async (t) => {
    const { worker, topics, gateways, published, metric } = await createStage(t);
    void worker.start();
    await waitFor('the wait', () => gateways.waits === 1);
    assert.equal(published(), 0);
    assert.equal(await metric('crier_flow_limited_partitions'), 'crier_flow_limited_partitions 1');
    for (const topic of topics) gateways.grant(topic, 0, 1_000_000);
    await waitFor('some samples', () => published() >= 3);
    assert.match(await metric('crier_flow_limited_seconds_total'), /\{topic="\S+-events"\} \d/);
    assert.match(await metric('crier_flow_limited_by_gateway_seconds_total'), /\{gateway="slow"\} \d/);
  });

  it('closes while it waits', async (t) => {
    const { worker, gateways, published } = await createStage(t);
    void worker.start();
    await waitFor('the wait', () => gateways.waits === 1);
    await worker.close();
    assert.equal(published(), 0);
  });
});
