import { randomBytes } from 'node:crypto';
import { groupOf } from '../../processes/consumer-group.ts';
import { sumOfCounter } from '../../processes/metrics.ts';
import { startRemote } from '../../processes/process-call.ts';
import type { ServerProcess } from '../../processes/server-process.ts';
import type { Scope } from '../../runner/scope.ts';
import { sum } from '../../runner/spread.ts';
import type { DutyCycle } from './duty-cycle.ts';
import type { PodSet } from './pod-set.ts';
import { startPod } from './pod.ts';

/** The running pods of a set, with their own consumer group and channel prefix. */
export class RunningPods {
  readonly group: string;
  readonly channelPrefix: string;
  readonly #podSet: PodSet;
  readonly #scope: Scope;
  readonly #processes: ServerProcess[] = [];

  constructor(podSet: PodSet, scope: Scope) {
    this.#podSet = podSet;
    this.#scope = scope;
    this.group = `${podSet.name}-${randomBytes(4).toString('hex')}`;
    this.channelPrefix = `${this.group}:`;
  }

  /** Resolves when all pods listen and several workers have formed a stable group. */
  async start(
    services: { readonly kafkaBrokers: string; readonly redisUrl: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { kafkaBrokers, redisUrl } = services;
    const where = { kafkaBrokers, redisUrl, group: this.group, channelPrefix: this.channelPrefix };
    for (const pod of this.#podSet.pods) {
      signal.throwIfAborted();
      this.#processes.push(await startPod(pod, where, this.#scope));
    }
    const workers = this.#podSet.pods.filter(({ isWorkerOnly }) => isWorkerOnly).length;
    if (workers > 1) await groupOf(kafkaBrokers, this.group, workers, signal);
  }

  /** The pod whose samples the charts show. */
  get first(): ServerProcess {
    return this.#processes[0]!;
  }

  get pids(): readonly number[] {
    return this.#processes.map(({ pid }) => pid);
  }

  /** Ports of the pods that serve sockets. */
  get ports(): readonly number[] {
    return this.#processes.filter((_, i) => !this.#podSet.pods[i]!.isWorkerOnly).map(({ port }) => port);
  }

  /** Counters: sums over the pods, and the queues of the pod with the most. A busy pod delays the answer. */
  async count() {
    const metrics = await Promise.all(this.#processes.map((process) => process.metrics()));
    const all = (name: string) => metrics.map((text) => sumOfCounter(text, name));
    return {
      recordsConsumed: sum(all('crier_records_consumed_total')),
      gaps: sum(all('crier_gaps_total')),
      queueBytes: Math.max(...all('crier_queue_bytes')),
    };
  }

  /** Starts to slow down the pods with `isSlow`. */
  slowDown(): void {
    this.#processes.forEach(({ pid }, i) => {
      if (!this.#podSet.pods[i]!.isSlow) return;
      const cycle = startRemote<DutyCycle>('story/pods/duty-cycle.js', this.#scope);
      void cycle.start(pid);
      // A stopped process does not handle SIGTERM.
      this.#scope.after(() => cycle.end().catch(() => undefined));
    });
  }
}
