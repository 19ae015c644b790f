/** Preloaded into servers under measurement (`--expose-gc --import`): SIGUSR2 collects garbage, so that RSS shows what is kept. */
process.on('SIGUSR2', () => {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  gc?.();
});
