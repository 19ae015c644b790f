import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Metrics } from '../../../src/ops/metrics/metrics.ts';
import type { Members } from '../../../src/ops/processes/members.ts';
import { PodMetrics } from '../../../src/ops/processes/pod-metrics.ts';
import { waitFor } from '../../support/wait-for.ts';
import { memberOf, membersOf, signal } from './stage.ts';

describe('the metrics of a pod of several processes', () => {
  it('are sums, of which counters fall neither when a process is blocked nor when it is replaced', async (t) => {
    const members: Members = membersOf(t, { behaviours: () => 'serve', onEnd: (process) => metrics.onEnd(process) });
    const metrics: PodMetrics = new PodMetrics(new Metrics(), () => members.all);
    await members.start();
    const read = async () => {
      const families = new Map((await metrics.read()).map(({ name, values }) => [name, values]));
      const up = families.get('crier_process_up')!.map(({ labels, value }) => [labels['process'], value] as const);
      const [total, now] = ['crier_test_total', 'crier_test'].map((name) =>
        families.get(name)!.map(({ value }) => value),
      );
      return { total, now, up: Object.fromEntries(up) as Readonly<Record<string, number>> };
    };
    assert.deepEqual(await read(), { total: [14], now: [4], up: { 'gateway-1': 1, 'gateway-2': 1 } });

    signal(memberOf(members, 'gateway-1'), 'SIGSTOP');
    assert.deepEqual(await read(), { total: [14], now: [2], up: { 'gateway-1': 0, 'gateway-2': 1 } });

    signal(memberOf(members, 'gateway-1'), 'SIGKILL');
    await waitFor('the end', () => memberOf(members, 'gateway-1').ends === 1);
    assert.deepEqual(
      (await read()).total?.map((value) => value >= 14),
      [true],
    );
    await waitFor('the replacement', () => memberOf(members, 'gateway-1').process?.isServing);
    assert.deepEqual(await read(), { total: [21], now: [4], up: { 'gateway-1': 1, 'gateway-2': 1 } });
  });
});
