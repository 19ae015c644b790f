/**
 * Aborted by the first SIGINT or SIGTERM, so that the process can end in good order. The second one ends it at once,
 * and with it the services that it started.
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
