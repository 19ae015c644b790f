import { cpuMs } from '../processes/process-usage.ts';
import type { Progress } from './client/client.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import type { BacklogSample, PhaseName, PhaseSpan, StorySample } from './result.ts';

const INTERVAL_MS = 1000;

export interface SamplerOptions {
  readonly pod: Pick<ServerProcess, 'pid' | 'readHeap'>;
  readonly client: { progress(): Promise<Progress> };
  /** Counters of all pods; `backlog` for an open-loop flood. */
  readonly count: () => Promise<{ readonly recordsConsumed: number; readonly backlog?: BacklogSample }>;
  readonly onSample: (sample: StorySample) => void;
  /** Called when the pod or the client no longer answers. */
  readonly onFailure: (error: Error) => void;
}

/** Samples pod and client once a second. A busy pod delays the next sample until it has answered. */
export class Sampler {
  readonly samples: StorySample[] = [];
  readonly #options: SamplerOptions;
  readonly #startedAt = Date.now();
  readonly #phases: { name: PhaseName; fromMs: number; toMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #cpuMs = 0;
  #sampledMs = 0;
  #isClosed = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Ends the current phase and begins this one. */
  enter(name: PhaseName): void {
    this.#endPhase();
    this.#phases.push({ name, fromMs: this.#nowMs, toMs: this.#nowMs });
    if (this.#timer) return;
    this.#cpuMs = cpuMs(this.#options.pod.pid);
    this.#schedule();
  }

  /** Ends the last phase and returns all. Idempotent. */
  close(): readonly PhaseSpan[] {
    if (!this.#isClosed) this.#endPhase();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    return this.#phases;
  }

  get #nowMs(): number {
    return Date.now() - this.#startedAt;
  }

  #endPhase(): void {
    const last = this.#phases.at(-1);
    if (last) last.toMs = this.#nowMs;
  }

  #schedule(): void {
    const sinceLastMs = this.#nowMs - this.#sampledMs;
    this.#timer = setTimeout(() => void this.#sample(), Math.max(0, INTERVAL_MS - sinceLastMs));
  }

  async #sample(): Promise<void> {
    const { pod, client, count, onSample, onFailure } = this.#options;
    const phase = this.#phases.at(-1)!.name;
    try {
      const [heap, counts, { delivered }] = await Promise.all([pod.readHeap(), count(), client.progress()]);
      if (this.#isClosed) return;
      const { at, ...figures } = heap;
      const atMs = at - this.#startedAt;
      const usedMs = cpuMs(pod.pid);
      const sample: StorySample = {
        phase,
        atMs,
        durationMs: atMs - this.#sampledMs,
        ...figures,
        cpuMs: usedMs - this.#cpuMs,
        ...counts,
        delivered,
      };
      this.#sampledMs = atMs;
      this.#cpuMs = usedMs;
      this.samples.push(sample);
      onSample(sample);
      this.#schedule();
    } catch (error) {
      if (!this.#isClosed) onFailure(error as Error);
    }
  }
}
