import assert from 'node:assert/strict';
import { PerformanceObserver, constants, monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GarbageCollections } from '../../../src/ops/metrics/garbage-collections.ts';
import type { GarbageCollection } from '../../../src/ops/memory/garbage-collection.ts';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';
import { observeProcess } from '../../../src/ops/metrics/process-metrics.ts';
import { blockLoop } from '../../support/block-loop.ts';
import { waitFor } from '../../support/wait-for.ts';

const COLLECTIONS = 10;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The metrics of a server, and the value of a series. */
function createStage(t: TestContext) {
  const metrics = new Metrics();
  observeProcess(metrics, 'all');
  const collections = new GarbageCollections(metrics).start();
  t.after(() => collections.close());
  const value = async (series: string) => {
    const lines = (await metrics.registry.metrics()).split('\n');
    const line = lines.find((text) => text.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  const major = (suffix: string) => value(`nodejs_gc_duration_seconds_${suffix}{kind="major"}`);
  return { collections, value, major };
}

describe('the metrics of a process', () => {
  it('count each garbage collection of one turn once in each of two servers, in seconds', async (t) => {
    const stages = [createStage(t), createStage(t)];
    const durations: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration, detail } of list.getEntries() as GarbageCollection[])
        if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) durations.push(duration);
    });
    observer.observe({ entryTypes: ['gc'] });
    t.after(() => observer.disconnect());
    for (let i = 0; i < COLLECTIONS; i++) collect();
    await waitFor('the collections', () => durations.length >= COLLECTIONS);
    for (const { major } of stages) {
      await waitFor('all of them', async () => (await major('count')) === durations.length);
      const seconds = durations.reduce((sum, duration) => sum + duration / 1000, 0);
      assert.ok(Math.abs((await major('sum'))! - seconds) < 1e-6, `${await major('sum')} and ${seconds}`);
    }
  });

  it('count no garbage collection of a server that is closed', async (t) => {
    const [closed, open] = [createStage(t), createStage(t)];
    await closed.collections.close();
    collect();
    await waitFor('the collection', () => open.major('count'));
    assert.equal(await closed.major('count'), undefined);
  });

  it('show the share of the time since the last scrape in which the event loop was busy', async (t) => {
    const { value } = createStage(t);
    await value('crier_event_loop_utilization_ratio');
    blockLoop(300);
    await nextTurn();
    const ratio = (await value('crier_event_loop_utilization_ratio'))!;
    assert.ok(ratio > 0.5 && ratio <= 1, `${ratio}`);
  });

  it('show the longest delay of the event loop since the last scrape, in seconds', async (t) => {
    const { value } = createStage(t);
    const delays = monitorEventLoopDelay({ resolution: 10 });
    delays.enable();
    t.after(() => delays.disable());
    await value('nodejs_eventloop_lag_max_seconds');
    // The first one after a scrape begins the time that the next one measures.
    await waitFor('some samples', () => delays.count > 3);
    const startedAt = performance.now();
    blockLoop(300);
    await waitFor('the delay', () => delays.max > 250e6);
    const seconds = (await value('nodejs_eventloop_lag_max_seconds'))!;
    const elapsed = (performance.now() - startedAt) / 1000;
    assert.ok(seconds > 0.25 && seconds <= elapsed + 0.1, `${seconds} of ${elapsed} s`);
  });

  it('have the units and kinds of their names', async (t) => {
    const { value } = createStage(t);
    const { user, system } = process.cpuUsage();
    const cpu = (await value('process_cpu_seconds_total'))!;
    assert.ok(cpu <= (user + system) / 1e6 + 1, `${cpu} s`);
    const resident = (await value('process_resident_memory_bytes'))!;
    assert.ok(resident > process.memoryUsage().heapUsed, `${resident} bytes`);
    const startedAt = Date.now() / 1000 - process.uptime();
    assert.ok(Math.abs((await value('process_start_time_seconds'))! - startedAt) < 5);
  });
});
