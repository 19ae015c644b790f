import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { GraphError, SetupError } from '../base/errors.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { GraphLoader } from '../graph/loading/load.ts';
import type { Logger } from '../base/log.ts';
import type { Increments, MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import { checkGraph } from './graph-problems.ts';
import type { Versioned } from './versioned.ts';

/**
 * - `swapped`: the pod serves the graph of the folder; its live operations have moved to it, or have ended
 * - `unchanged`: it served that graph already
 * - `refused`: it serves the former graph as before; `problems` says why
 */
export type ReloadOutcome =
  | { readonly outcome: 'swapped' | 'unchanged'; readonly revision: string }
  | { readonly outcome: 'refused'; readonly revision: string; readonly problems: readonly string[] };

export interface GraphReloadsOptions {
  readonly loader: Pick<GraphLoader, 'load'>;
  readonly graph: Versioned<Graph>;
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly draining: AbortSignal;
  /** Called with what became of each reload, in place of its log line. */
  readonly onReload?: ((outcome: ReloadOutcome, durationMs: number) => void) | undefined;
  /** Longest wait in ms for the modules of a graph. */
  readonly loadTimeoutMs?: number;
}

const LOAD_TIMEOUT_MS = 60_000;

/**
 * Reloads the graph of the pod: loads it beside the one that is served, opens it in each part of the pod, and serves it in all of them from one
 * turn of the event loop on. A graph that cannot be loaded or opened changes nothing.
 */
export class GraphReloads {
  readonly #options: GraphReloadsOptions;
  readonly #reloads: Increments<'outcome'>;
  #running: Promise<ReloadOutcome> | undefined;
  /** Begins after the running one, for all who ask meanwhile: the folder may have changed since that one has read it. */
  #next: Promise<ReloadOutcome> | undefined;

  constructor(options: GraphReloadsOptions) {
    this.#options = options;
    const { metrics } = options;
    this.#reloads = metrics.increments('crier_graph_reloads_total', 'Reloads of the graph, by outcome.', ['outcome']);
  }

  /** Never rejects. */
  reload(): Promise<ReloadOutcome> {
    if (!this.#running) {
      return (this.#running = this.#reload().finally(() => (this.#running = undefined)));
    }
    return (this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.reload();
    }));
  }

  async #reload(): Promise<ReloadOutcome> {
    const { log, onReload } = this.#options;
    const startedAt = performance.now();
    const outcome = await this.#attempt();
    this.#reloads.inc({ outcome: outcome.outcome });
    const durationMs = Math.round(performance.now() - startedAt);
    if (onReload) onReload(outcome, durationMs);
    else if (outcome.outcome !== 'refused') log.info({ ...outcome, durationMs }, 'the graph was reloaded');
    else log.error({ ...outcome, durationMs }, 'the graph was not reloaded: the pod serves the former one as before');
    return outcome;
  }

  async #attempt(): Promise<ReloadOutcome> {
    const { config, graph, log } = this.#options;
    const { revision } = graph.current;
    try {
      this.#assertNotDraining();
      const next = await this.#load(revision);
      if (!next) return { outcome: 'unchanged', revision };
      checkGraph(config, next, log);
      await graph.replace(next, () => this.#assertNotDraining());
      return { outcome: 'swapped', revision: next.revision };
    } catch (error) {
      const problems = error instanceof SetupError ? error.message.split('\n') : [String(error)];
      if (!(error instanceof SetupError)) log.error({ err: error }, 'reloading the graph failed');
      return { outcome: 'refused', revision: graph.current.revision, problems };
    }
  }

  async #load(known: string): Promise<Graph | undefined> {
    const { loader, loadTimeoutMs = LOAD_TIMEOUT_MS } = this.#options;
    const timer = new AbortController();
    const timeout = delay(loadTimeoutMs, undefined, { signal: timer.signal }).then(() => {
      throw new GraphError(
        `the graph has not loaded within ${loadTimeoutMs} ms: a module of it waits for something, or the pod is short of CPU`,
      );
    });
    try {
      return await Promise.race([loader.load(known), timeout]);
    } finally {
      timer.abort();
      timeout.catch(() => undefined);
    }
  }

  #assertNotDraining(): void {
    if (this.#options.draining.aborted) throw new SetupError('the pod is draining: it serves its graph until it ends');
  }
}
