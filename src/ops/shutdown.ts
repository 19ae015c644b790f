import { StoppedError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

/** What ends with the process. */
interface Closable {
  close(): Promise<void>;
}

/** What emits the signals that a process receives. */
export interface Signals {
  on(signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP', listener: (signal: NodeJS.Signals) => void): unknown;
}

/**
 * The reaction to SIGTERM and SIGINT, also while the pod starts (process 1 of a container has no default handler). The first SIGTERM drains
 * the pod and exits with 0. A second signal, or a first SIGINT, which is a person's Ctrl-C, skips the delay and the spread of the drain. A
 * third signal, or the deadline, exits at once with 1.
 */
export class Shutdown {
  readonly #stop = new AbortController();
  readonly #fastShutdown = new AbortController();
  readonly #timeoutMs: number;
  readonly #log: Logger;
  readonly #beforeExit: () => Promise<void>;
  #signals = 0;
  #isClosed = false;

  /** @param beforeExit runs after the pod has closed, or failed to; it never rejects */
  constructor(timeoutMs: number, log: Logger, beforeExit: () => Promise<void>) {
    this.#timeoutMs = timeoutMs;
    this.#log = log;
    this.#beforeExit = beforeExit;
  }

  /** Aborted by the first signal. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborted when the drain must not wait any longer. */
  get fastShutdown(): AbortSignal {
    return this.#fastShutdown.signal;
  }

  /** Handles signals from now on. @param signals emits them; default: this process */
  listen(starting: Promise<Closable>, signals: Signals = process): void {
    const onSignal = (signal: NodeJS.Signals) => this.#onSignal(signal, starting);
    signals.on('SIGTERM', onSignal);
    signals.on('SIGINT', onSignal);
  }

  #onSignal(signal: NodeJS.Signals, starting: Promise<Closable>): void {
    const count = ++this.#signals;
    if (count > 2) process.exit(1);
    this.#log.info({ signal }, count === 1 ? 'closing' : 'closing without delay');
    if (count === 2 || signal === 'SIGINT') this.#fastShutdown.abort();
    if (count > 1) return;
    this.#stop.abort();
    setTimeout(() => this.#onDeadline(), this.#timeoutMs).unref();
    starting
      .then((server) => server.close())
      .finally(this.#beforeExit)
      .then(this.#onClosed, this.#onFailure);
  }

  #onDeadline(): void {
    if (!this.#isClosed) this.#log.error({ timeoutMs: this.#timeoutMs }, 'not closed within SHUTDOWN_TIMEOUT_MS');
    process.exit(this.#isClosed ? 0 : 1);
  }

  readonly #onClosed = (): void => {
    this.#isClosed = true;
    this.#log.info('closed');
    this.#log.flush(() => process.exit(0));
  };

  readonly #onFailure = (error: unknown): void => {
    if (error instanceof StoppedError) return this.#onClosed();
    this.#log.error({ err: error }, 'failed to close');
    this.#log.flush(() => process.exit(1));
  };
}
