import type { Logger } from './log.ts';
import type { Server } from './server.ts';

/**
 * The first SIGTERM or SIGINT drains the pod and exits with 0, also while it starts (process 1 of a container has no default handler). A
 * second signal, or the deadline, exits at once with 1.
 */
export function endOnSignal(starting: Promise<Server>, stop: AbortController, timeoutMs: number, log: Logger): void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
    log.info({ signal }, 'closing');
    let isClosed = false;
    setTimeout(() => {
      if (!isClosed) log.error({ timeoutMs }, 'not closed within SHUTDOWN_TIMEOUT_MS');
      process.exit(isClosed ? 0 : 1);
    }, timeoutMs).unref();
    starting
      .then((server) => server.close())
      .then(
        () => {
          isClosed = true;
          log.info('closed');
          log.flush(() => process.exit(0));
        },
        (error: unknown) => {
          log.error({ err: error }, 'failed to close');
          log.flush(() => process.exit(1));
        },
      );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
