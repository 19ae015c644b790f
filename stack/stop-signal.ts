/**
 * A signal that the first SIGINT or SIGTERM aborts, so that the process can shut down. A second SIGINT or SIGTERM ends the process at once,
 * together with the services that it started.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new Error(`stopped by ${signal}`));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}
