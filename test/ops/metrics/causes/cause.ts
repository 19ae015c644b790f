import type { TestContext } from 'node:test';
import type { Stage } from './stage.ts';

/**
 * Causes metrics to move. `test/ops/metrics/every-metric.test.ts` runs every cause against one pod, one after the other, then those that have
 * pods of their own beside each other, and fails for a metric of the pod that no cause names.
 *
 * To add one: in the file of its area in this folder, or a new one that `every-metric.test.ts` lists, add
 * `{ title, metrics, run }`: `run` does what moves the metrics and checks by how much, usually with `stage.moves`. Leave nothing open behind:
 * the last test compares all gauges with their values before the first cause.
 */
export interface Cause {
  /** The rest of the test's title. */
  readonly title: string;
  /** Names of the metrics that it moves. */
  readonly metrics: readonly `crier_${string}`[];
  readonly run: (stage: Stage, t: TestContext) => Promise<void>;
}

/** Metrics that need a stage of their own, by the test file that moves them. It names each of them. */
export type CausedElsewhere = Readonly<Record<string, readonly `crier_${string}`[]>>;
