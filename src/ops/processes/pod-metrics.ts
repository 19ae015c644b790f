import type { Metrics } from '../metrics/metrics.ts';
import { METRICS_PATH } from './families-route.ts';
import type { Member } from './members.ts';
import { isCumulative, mergedFamilies } from './merged-families.ts';
import { readFamilies, unpackFamilies } from './metric-families.ts';
import type { Family } from './metric-families.ts';
import type { PodProcess } from './pod-process.ts';

/** Longest wait in ms for the metrics of a process: less than a scraper waits. */
const TIMEOUT_MS = 2000;

/**
 * The metrics of a pod of several processes. Counters never fall: a process that does not answer, and one that has ended, counts with what
 * it had counted at its last answer.
 */
export class PodMetrics {
  readonly #own: Metrics;
  readonly #members: () => readonly Member[];
  readonly #last = new WeakMap<PodProcess, readonly Family[]>();
  readonly #silent = new Set<string>();
  /** What processes had counted that have ended. */
  #ended: readonly Family[] = [];
  #reading: Promise<Family[]> | undefined;

  /** @param own of this process */
  constructor(own: Metrics, members: () => readonly Member[]) {
    this.#own = own;
    this.#members = members;
    own.gauges('crier_process_up', '1 while a process of this pod serves and answers, else 0.', ['process'], () =>
      members().map(({ name, process }) => ({
        labels: { process: name },
        value: process?.isServing && !this.#silent.has(name) ? 1 : 0,
      })),
    );
    own.counter('crier_process_ends_total', 'Processes of this pod that have ended.', ['process'], () =>
      members().map(({ name, ends }) => ({ labels: { process: name }, value: ends })),
    );
  }

  /** Takes 2 s at most. Never rejects. */
  read(): Promise<Family[]> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Keeps what a process has counted that has ended. */
  onEnd(process: PodProcess): void {
    const last = this.#last.get(process)?.filter(isCumulative) ?? [];
    this.#ended = mergedFamilies([
      { process: '', families: this.#ended },
      { process: process.name, families: last },
    ]);
  }

  async #read(): Promise<Family[]> {
    const processes = this.#members().flatMap(({ process }) => process ?? []);
    const parts = await Promise.all(
      processes.map(async (process) => ({ process, families: await this.#familiesOf(process) })),
    );
    const own = await readFamilies(this.#own.registry);
    return mergedFamilies([
      { process: 'main', families: own },
      ...parts.flatMap(({ process, families }) =>
        hasEnded(process, this.#members()) ? [] : [{ process: process.name, families }],
      ),
      { process: '', families: this.#ended },
    ]);
  }

  async #familiesOf(process: PodProcess): Promise<readonly Family[]> {
    const answer = await process.ask(METRICS_PATH, TIMEOUT_MS);
    if (!answer) {
      this.#silent.add(process.name);
      return this.#last.get(process)?.filter(isCumulative) ?? [];
    }
    this.#silent.delete(process.name);
    const families = unpackFamilies(answer.body);
    this.#last.set(process, families);
    return families;
  }
}

/** Its counts are among those of the ended processes. */
function hasEnded(process: PodProcess, members: readonly Member[]): boolean {
  return !members.some((member) => member.process === process);
}
