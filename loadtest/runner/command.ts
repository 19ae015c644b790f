import { stopSignal } from '../../stack/stop-signal.ts';

/**
 * Runs a command and exits with the code it returns, else `process.exitCode`; with 1 and an error line when it failed; with 130 when a
 * signal stopped it.
 */
export function runCommand(name: string, main: (signal: AbortSignal) => Promise<number | void>): void {
  const signal = stopSignal();
  main(signal).then(
    // Exits even if something else keeps the event loop alive.
    (code) => process.exit(code ?? process.exitCode),
    (error: unknown) => {
      say(`${name}: ${(signal.aborted ? (signal.reason as Error) : (error as Error)).message}`);
      process.exit(signal.aborted ? 130 : 1);
    },
  );
}

/** Prints a progress line on standard error. Standard output is for results. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
