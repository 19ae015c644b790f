import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { finishMs } from '../config/shutdown-times.ts';
import type { Component } from './services.ts';

/** The state of a server, and what it has opened: closed bottom to top. */
export class Lifecycle {
  /** Once aborted, a drain must not wait any longer. */
  readonly fastShutdown: AbortSignal;
  readonly #config: Config;
  readonly #components: Component[] = [];
  readonly #draining = new AbortController();
  #worker: Component | undefined;
  #status: 'starting' | 'ready' | 'draining' = 'starting';
  #closing: Promise<void> | undefined;

  constructor(config: Config, fastShutdown: AbortSignal) {
    this.#config = config;
    this.fastShutdown = fastShutdown;
  }

  get status(): 'starting' | 'ready' | 'draining' {
    return this.#status;
  }

  /** Aborted when the server begins to drain. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** Closes the component when the server closes, before every component registered earlier. Returns it. */
  readonly register = <T extends Component>(component: T): T => {
    this.#components.push(component);
    return component;
  };

  /** Begins a drain with the close of the worker, which ends it as well. */
  registerWorker(worker: Component): void {
    this.#worker = worker;
    this.#components.unshift(worker);
  }

  setReady(): void {
    this.#status = 'ready';
  }

  /** Drains and releases everything. Idempotent. */
  readonly close = (): Promise<void> => {
    this.#closing ??= this.#drain(this.#status === 'ready');
    this.#status = 'draining';
    this.#draining.abort();
    return this.#closing;
  };

  async #drain(wasReady: boolean): Promise<void> {
    const leaving = this.#worker?.close();
    if (wasReady) await waitUnless(this.fastShutdown, this.#config.DRAIN_DELAY_MS);
    // Clients must not wait for a Kafka that hangs: what is left of it is waited for at the very end.
    await Promise.race([leaving, delay(finishMs(this.#config) / 4, undefined, { ref: false })]);
    for (const component of this.#components.toReversed()) await component.close();
  }
}

/** Resolves after `ms`, or at once when the signal is aborted. */
async function waitUnless(signal: AbortSignal, ms: number): Promise<void> {
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined);
}
