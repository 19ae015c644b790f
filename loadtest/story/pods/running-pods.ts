import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { stableMembers } from '../../../test/end-to-end/producers.ts';
import { startDutyCycle } from './duty-cycle-calls.ts';
import type { DutyCycle } from './duty-cycle-calls.ts';
import { startPod, sumOfCounter } from './pod-process.ts';
import type { PodProcess } from './pod-process.ts';
import type { PodSet } from './pod-set.ts';

const GROUP_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Counters of a set of pods. */
export interface PodCounts {
  /** Sums over the pods. */
  readonly recordsConsumed: number;
  readonly gaps: number;
  /** Of the pod with the most. */
  readonly queueBytes: number;
}

/** The running pods of a set, with their own consumer group and channel prefix. */
export class RunningPods {
  readonly group: string;
  readonly channelPrefix: string;
  readonly #processes: PodProcess[] = [];
  readonly #dutyCycles: DutyCycle[] = [];

  constructor(name: string) {
    this.group = `${name}-${randomBytes(4).toString('hex')}`;
    this.channelPrefix = `${this.group}:`;
  }

  /** Resolves when all pods listen and several workers have formed a stable group. */
  async start(
    podSet: PodSet,
    services: { readonly kafkaBrokers: string; readonly redisUrl: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { group, channelPrefix } = this;
    for (const pod of podSet.pods) {
      signal.throwIfAborted();
      this.#processes.push(await startPod(pod, { ...services, group, channelPrefix }));
    }
    const workers = podSet.pods.filter(({ isWorkerOnly }) => isWorkerOnly).length;
    const deadline = performance.now() + GROUP_TIMEOUT_MS;
    while (workers > 1 && (await stableMembers(services.kafkaBrokers, group)) !== workers) {
      if (performance.now() > deadline) throw new Error(`no stable group of ${workers} in ${GROUP_TIMEOUT_MS} ms`);
      await delay(POLL_MS, undefined, { signal });
    }
  }

  /** The pod whose samples the charts show. */
  get first(): PodProcess {
    return this.#processes[0]!;
  }

  get pids(): readonly number[] {
    return this.#processes.map(({ pid }) => pid);
  }

  /** Ports of the pods that serve sockets. */
  get ports(): readonly number[] {
    return this.#processes.filter(({ pod }) => !pod.isWorkerOnly).map(({ port }) => port);
  }

  /** A busy pod delays the answer. */
  async count(): Promise<PodCounts> {
    const metrics = await Promise.all(this.#processes.map((process) => process.metrics()));
    const sum = (name: string) => metrics.reduce((total, text) => total + sumOfCounter(text, name), 0);
    return {
      recordsConsumed: sum('crier_records_consumed_total'),
      gaps: sum('crier_gaps_total'),
      queueBytes: Math.max(...metrics.map((text) => sumOfCounter(text, 'crier_queue_bytes'))),
    };
  }

  /** Starts to slow down the pods with `isSlow`. */
  slowDown(): void {
    for (const { pod, pid } of this.#processes) if (pod.isSlow) this.#dutyCycles.push(startDutyCycle(pid));
  }

  async stop(): Promise<void> {
    // A stopped process does not handle SIGTERM.
    await Promise.all(this.#dutyCycles.map((cycle) => cycle.stop()));
    await Promise.all(this.#processes.map((process) => process.stop()));
  }
}
